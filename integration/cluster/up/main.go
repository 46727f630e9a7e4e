// Command up, run by scripts/cluster.sh, brings up a cluster to try manifests on, with the sample app of the examples
// in the registry, and runs until a signal.
//
// With a file as argument, up writes shell variables about the running cluster to the file. With "compile", up only
// compiles the cluster's programs; with "compile platforms" also the programs of the platforms for tests on the
// cluster.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/grpc-cnb/health-probe/integration/cluster"
	"github.com/grpc-cnb/health-probe/integration/harness"
)

func main() {
	cluster.Main()
	if err := do(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func do(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch {
	case slices.Equal(args, []string{"compile"}):
		return compile(ctx, nil)
	case slices.Equal(args, []string{"compile", "platforms"}):
		return compile(ctx, cluster.PlatformNames)
	case len(args) == 1:
		return run(ctx, args[0])
	}
	return errors.New("name the file for the variables, or compile, or compile platforms")
}

// compile compiles the programs of a cluster and others, by the harness's names of tools.
func compile(ctx context.Context, others []string) (err error) {
	fixture, err := harness.New(ctx, "..", os.Stdout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fixture.Close()) }()
	if _, err := cluster.Programs(ctx, fixture); err != nil {
		return err
	}
	for _, name := range others {
		if _, err := fixture.Tool(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// run brings a cluster up, and ends the cluster at the end of the context.
func run(ctx context.Context, file string) (err error) {
	fixture, err := harness.New(ctx, "..", os.Stdout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fixture.Close()) }()
	bin, err := cluster.Programs(ctx, fixture)
	if err != nil {
		return err
	}
	if err := cluster.Needs(); err != nil {
		return fmt.Errorf("starting a cluster needs %w", err)
	}
	started := fixture.Step("starting a cluster")
	c, err := cluster.Start(ctx, bin, filepath.Join(filepath.Dir(file), "logs"))
	if err != nil {
		return err
	}
	started()
	defer func() { err = errors.Join(err, c.Close()) }()
	docker, err := fixture.Docker(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, docker.Close()) }()
	if err := c.PushImages(ctx, fixture, docker); err != nil {
		return err
	}
	variables := fmt.Sprintf("pid=%d init=%d folder=%q bin=%q registry=%q\n", os.Getpid(), c.Init(), c.Folder(), bin,
		c.Registry())
	if err := os.WriteFile(file, []byte(variables), 0o600); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(file)) }()
	select {
	case <-ctx.Done():
	case <-c.Ended():
	}
	return nil
}
