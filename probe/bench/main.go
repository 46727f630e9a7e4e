// Command bench measures the cost of one exec of a health probe. In go programs with the flags of grpc-health-probe,
// out comes a report in Markdown: the cost of each program relative to the reference. Begin with run, then measure. The
// functions timed and traced measure one exec; limits.go measures execs under limits.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

const usage = `Measures what one exec of a health probe costs, compared with others, and prints a report in Markdown.

usage: scripts/bench.sh [--against [NAME=]PATH] [--runs N] [NAME=PATH...]

  --against [NAME=]PATH  another probe with grpc-health-probe's flags, the reference for all
                         ratios, instead of this product's full probe
  --runs N               how many times to measure each program for each figure (200)
  NAME=PATH              one more probe to measure

Other work distorts the times: run it on a machine that does nothing else. Limits of CPU
and memory need root and writable cgroups; without them the report says what it leaves out.
`

type config struct {
	runs     int
	floors   []program // programs that do nothing
	programs []program // the last is the reference
}

func (c *config) reference() program { return c.programs[len(c.programs)-1] }

func main() {
	if len(os.Args) == 3 && os.Args[1] == serveCommand {
		exit(serve(os.Args[2]))
	}
	c, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		fmt.Print(usage)
		return
	}
	if err != nil {
		exit(err)
	}
	// An interrupted run still removes the cgroups and the copies of the programs.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	exit(run(ctx, c))
}

func exit(err error) {
	if err == nil {
		os.Exit(0)
	}
	fmt.Fprintf(os.Stderr, "error: %v\n", err)
	os.Exit(1)
}

// parse parses a command line. The help does not name the flags for the floors and for this product's own probes, set
// by scripts/bench.sh.
func parse(words []string) (c config, err error) {
	var against, empty, linked string
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(io.Discard) // main prints the errors and another help.
	f.IntVar(&c.runs, "runs", 200, "")
	f.StringVar(&against, "against", "", "")
	f.StringVar(&empty, "empty", "", "")
	f.StringVar(&linked, "linked", "", "")
	if err := f.Parse(words); err != nil {
		return c, fmt.Errorf("parsing flags: %w", err)
	}
	c.floors = []program{{name: "idle Go program with TLS", path: linked}, {name: "empty Go program", path: empty}}
	for _, word := range f.Args() {
		c.programs = append(c.programs, parseProgram(word))
	}
	if against != "" {
		c.programs = append(c.programs, parseProgram(against))
	}
	return c, c.validate()
}

func (c *config) validate() error {
	if c.runs < 1 {
		return fmt.Errorf("parsing flags: invalid value %d for --runs: at least one is needed", c.runs)
	}
	isEmpty := func(p program) bool { return p.path == "" }
	if slices.ContainsFunc(c.floors, isEmpty) || len(c.programs) == 0 {
		return errors.New("parsing flags: no programs to measure: run scripts/bench.sh, which makes them")
	}
	seen := map[string]bool{}
	for _, p := range c.all() {
		if seen[p.name] {
			return fmt.Errorf("parsing flags: two programs are called %q: name one of them another way, NAME=PATH",
				p.name)
		}
		seen[p.name] = true
	}
	return nil
}

func run(ctx context.Context, c config) (err error) {
	dir, err := os.MkdirTemp("", "grpc-health-probe-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := c.install(dir); err != nil {
		return err
	}
	server, err := startServer(dir)
	if err != nil {
		return fmt.Errorf("starting the server: %w", err)
	}
	defer server.stop()
	if err := c.check(server.protocols); err != nil {
		return err
	}
	results, err := measure(ctx, c, server.protocols)
	if err != nil {
		return err
	}
	limits, err := measureLimits(ctx, c, server.protocols)
	if err != nil {
		return err
	}
	fmt.Print(report{machine(), c, server.protocols, results, limits})
	return nil
}
