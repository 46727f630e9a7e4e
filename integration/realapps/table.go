package main

import (
	"fmt"
	"slices"

	"github.com/BurntSushi/toml"
)

// app is a row of the table.
type app struct {
	// Name is the app's name, for readers and for the command line.
	Name string
	// Language is the app's programming language.
	Language string
	// Source is go:MODULE@VERSION or debian:PACKAGE=VERSION.
	Source string
	// Path is the folder in the source for the build; empty for the whole source.
	Path string
	// Env is the environment of the image's build and of the app, as NAME=VALUE.
	Env []string
	// Build is a shell script that runs in the app's folder and compiles the app into $OUT, without changes to the
	// folder; $SOURCE is the folder with all of the app's sources. The next run reuses the program. An empty Build
	// compiles a Go module's program of $BP_GO_TARGETS into $OUT/server.
	Build string
	// Procfile is a file that a user must add: Run needs flags, or the language has no other start command.
	Procfile string
	// Run is the start command in the app's own documents, for a shell in the app's folder.
	Run string
	// Lead is the file with the server of Run, if the sources have several servers.
	Lead string
	// Outcome is the expected verdict; empty for [passes].
	Outcome verdict
}

func (a app) want() verdict {
	if a.Outcome == "" {
		return passes
	}
	return a.Outcome
}

func readTable(file string) ([]app, error) {
	var table struct{ App []app }
	read, err := toml.DecodeFile(file, &table)
	if err != nil {
		return nil, fmt.Errorf("reading the table of apps: %w", err)
	}
	if unknown := read.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("reading the table of apps %q: a row has no field %q", file, unknown[0])
	}
	return table.App, nil
}

// known returns an error for a name without an app.
func known(apps []app, names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(apps, func(a app) bool { return a.Name == name }) {
			return fmt.Errorf("finding the app %q: the table has none of that name", name)
		}
	}
	return nil
}
