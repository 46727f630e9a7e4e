package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
)

type metric struct {
	name string
	unit string
	per  float64 // size of the unit in seconds or bytes, or as a count
}

// metrics are in the order of the values in a sample.
var metrics = []metric{
	{"wall", " ms", 1e-3},
	{"CPU", " ms", 1e-3},
	{"page faults", "", 1},
	{"resident memory", " MB", 1e6},
	{"threads", "", 1},
}

// sample is the cost of one program in one round.
type sample []float64

// subject is a program and its protocol, by name.
type subject struct {
	program  string
	protocol string
}

// results are the samples of each subject, one sample for each round. Samples with the same index come from the same
// round.
type results map[subject][]sample

// task is a program to run with a protocol.
type task struct {
	program  program
	protocol protocol
}

func (t task) subject() subject { return subject{t.program.name, t.protocol.Name} }

func (c *config) tasks(protocols []protocol) (tasks []task) {
	for _, p := range c.all() {
		for _, protocol := range protocols {
			tasks = append(tasks, task{p, protocol})
		}
	}
	return tasks
}

// warmUps are rounds that do not count: the first rounds read the programs into the page cache.
const warmUps = 3

// rounds runs all tasks n times, in rounds, each round in a new random order. So the machine's other work, and the
// state of the processor's caches after the previous run, affect all tasks alike.
func rounds[T any](ctx context.Context, what string, n int, tasks []T, run func(t T, counts bool) error) error {
	for round := range warmUps + n {
		progress(what, round+1, warmUps+n)
		rand.Shuffle(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
		for _, t := range tasks {
			if err := context.Cause(ctx); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
			if err := run(t, round >= warmUps); err != nil {
				return fmt.Errorf("%s: %w", what, err)
			}
		}
	}
	return nil
}

func measure(ctx context.Context, c config, protocols []protocol) (results, error) {
	all := results{}
	err := rounds(ctx, "measuring", c.runs, c.tasks(protocols), func(t task, counts bool) error {
		s, err := take(t)
		if counts {
			all[t.subject()] = append(all[t.subject()], s)
		}
		return err
	})
	return all, err
}

// take takes one sample. Memory and threads come from a separate run, because tracing takes time.
func take(t task) (sample, error) {
	wall, cpu, faults, err := timed(t.program, t.protocol.args())
	if err != nil {
		return nil, err
	}
	memory, threads, err := traced(t.program, t.protocol.args())
	return sample{wall, cpu, faults, memory, threads}, err
}

// ratios returns the costs of one subject relative to another, round by round.
func (r results) ratios(of, to subject, metric int) []float64 {
	ratios := make([]float64, len(r[of]))
	for i := range ratios {
		ratios[i] = r[of][i][metric] / r[to][i][metric]
	}
	return ratios
}

// values returns the measures of one metric.
func (r results) values(of subject, metric int) []float64 {
	values := make([]float64, len(r[of]))
	for i := range values {
		values[i] = r[of][i][metric]
	}
	return values
}

// progress writes the progress of the work to standard error, ten times in all.
func progress(what string, n, of int) {
	if n == of || n%max(1, of/10) == 0 {
		fmt.Fprintf(os.Stderr, "%s: %d of %d\n", what, n, of)
	}
}
