// Command release makes the files of a release for which shell scripts need tools that differ between systems:
// archives, checksums, notes. The program also prepares the repository for a version, and registers the buildpack.
// Begin with the table of verbs.
package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// verbs are the functions of the program, with their arguments. All paths of the repository are relative to the root,
// where the scripts run the program.
var verbs = map[string]struct {
	arguments string
	count     int
	run       func(arguments []string) error
}{
	"archive":   {"FOLDER FILE.tgz", 2, func(a []string) error { return archive(a[0], a[1]) }},
	"krew":      {"FOLDER", 1, func(a []string) error { return writeKrew(".", a[0]) }},
	"checksums": {"FOLDER", 1, func(a []string) error { return writeChecksums(a[0]) }},
	"notes":     {"FOLDER", 1, func(a []string) error { return writeNotes(".", a[0]) }},
	"vex":       {"FOLDER", 1, func(a []string) error { return writeVEX(".", a[0]) }},
	"verify":    {"FOLDER BUILDPACK PROBE PLUGIN", 4, func(a []string) error { return verify(".", a[0], a[1:]) }},
	"prepare":   {"X.Y.Z", 1, func(a []string) error { return prepare(".", a[0], time.Now().UTC()) }},
	"register": {"FILE ENTRY TITLE BODY", 4, func(a []string) error {
		return publicRegistry().register(a[0], a[1], a[2], a[3])
	}},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	if len(arguments) == 0 {
		return errors.New("reading the command line: it names nothing to do: use one of " + names())
	}
	verb, ok := verbs[arguments[0]]
	if !ok {
		return fmt.Errorf("reading the command line: %q is not one of %s", arguments[0], names())
	}
	if len(arguments)-1 != verb.count {
		return fmt.Errorf("reading the command line: %s takes %s", arguments[0], verb.arguments)
	}
	return verb.run(arguments[1:])
}

func names() string { return strings.Join(slices.Sorted(maps.Keys(verbs)), ", ") }
