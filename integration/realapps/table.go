package main

import (
	"fmt"
	"slices"

	"github.com/BurntSushi/toml"
)

// app is a row of the table.
type app struct {
	// Name is the app's, for readers and for the command line.
	Name string
	// Language is the one that the app is written in.
	Language string
	// Source is go:MODULE@VERSION or debian:PACKAGE=VERSION.
	Source string
	// Path is the folder in the source that is given to the build; empty for all of it.
	Path string
	// Env is the environment of the image's build and of the app, as NAME=VALUE.
	Env []string
	// Build is a shell's script that compiles the app in its folder, into $OUT, and leaves the folder as it is; $SOURCE
	// is the folder with all of the app's sources. What is compiled is kept for the next run. If it is empty, a Go
	// module's program of $BP_GO_TARGETS becomes $OUT/server.
	Build string
	// Procfile is what a user adds who builds the app: Run needs flags, or a language has no other way to say what is
	// started.
	Procfile string
	// Run is the command of the app's own documents that starts it, for a shell in the app's folder.
	Run string
	// Lead is the file with the server that Run starts, if the sources have several.
	Lead string
	// Outcome is the verdict that is expected; empty for [passes].
	Outcome verdict
}

func (a app) want() verdict {
	if a.Outcome == "" {
		return passes
	}
	return a.Outcome
}

// readTable reads the apps of a table.
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

// known returns an error if one of the names is no app's.
func known(apps []app, names []string) error {
	for _, name := range names {
		if !slices.ContainsFunc(apps, func(a app) bool { return a.Name == name }) {
			return fmt.Errorf("finding the app %q: the table has none of that name", name)
		}
	}
	return nil
}
