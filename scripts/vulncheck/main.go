// Command vulncheck looks Go programs up in Go's vulnerability database, with govulncheck, and fails if a program can
// execute vulnerable code. Vulnerable code that a program links and cannot execute goes into an OpenVEX document, since
// scanners see only the linking. All programs are of one release, with the same main module and version.
package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strings"

	"github.com/grpc-cnb/health-probe/scripts/openvex"
)

func main() {
	out := flag.String("o", "", "the file to write the OpenVEX document to")
	var with scanner
	flag.StringVar(&with.program, "govulncheck", "govulncheck", "the program govulncheck")
	flag.StringVar(&with.database, "db", "https://vuln.go.dev", "the address of the database")
	flag.Parse()
	if err := run(context.Background(), with, *out, flag.Args()); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

type scanner struct{ program, database string }

func run(ctx context.Context, with scanner, out string, programs []string) error {
	if out == "" || len(programs) == 0 {
		return errors.New("reading the command line: it needs -o FILE and programs")
	}
	// A document of an earlier run must not pass for one of this run.
	if err := os.Remove(out); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	product := ""
	var documents []*openvex.Document
	for _, program := range programs {
		fmt.Fprintln(os.Stdout, "looking up", program)
		info, err := buildinfo.ReadFile(program)
		if err != nil {
			return err
		}
		id := openvex.ProgramOf(info)
		if product != "" && id != product {
			return fmt.Errorf("looking up %q: it is %s, and not %s as the programs before it", program, id, product)
		}
		product = id
		document, err := with.lookUp(ctx, program)
		if err != nil {
			return err
		}
		documents = append(documents, document)
	}
	return conclude(product, out, documents)
}

// lookUp runs govulncheck on one program, and shows the findings, in words, if the program is affected.
func (s scanner) lookUp(ctx context.Context, program string) (*openvex.Document, error) {
	command := exec.CommandContext(ctx, s.program, "-db", s.database, "-mode=binary", "-format=openvex", program)
	command.Stderr = os.Stderr
	content, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("running %s on %q: %w", s.program, program, err)
	}
	document, err := openvex.Parse(content)
	if err != nil || len(document.Affected()) == 0 {
		return document, err
	}
	report := exec.CommandContext(ctx, s.program, "-db", s.database, "-mode=binary", program)
	report.Stdout, report.Stderr = os.Stdout, os.Stderr
	var exit *exec.ExitError
	if err := report.Run(); err != nil && !errors.As(err, &exit) { // it fails if it has findings
		return nil, err
	}
	return document, nil
}

// conclude writes the document of all programs, and returns an error if a program is affected.
func conclude(product, out string, documents []*openvex.Document) error {
	merged, err := openvex.Merge(product, documents)
	if errors.Is(err, openvex.ErrNothing) {
		fmt.Fprintf(os.Stdout, "%v: there is nothing to state\n", err)
		return nil
	}
	if err != nil {
		return err
	}
	if err := merged.Write(out); err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "%s has %d statements about %s\n", out, len(merged.Statements), product)
	if names := merged.Affected(); len(names) > 0 {
		return fmt.Errorf("looking the programs up: they can execute code with %s: update Go or the modules",
			strings.Join(names, ", "))
	}
	return nil
}
