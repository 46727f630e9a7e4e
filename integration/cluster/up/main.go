// Command up is what scripts/cluster.sh runs: it brings up a cluster to try manifests on, with the sample app of the
// examples in its registry, and keeps it until it is told to end.
//
// With a file as its argument it writes shell variables about the cluster to it once the cluster is up. Without one it
// compiles the programs, also those of the platforms that the tests run, and does nothing else.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/grpc-cnb/health-probe/integration/cluster"
	"github.com/grpc-cnb/health-probe/integration/harness"
)

func main() {
	cluster.Main()
	file := ""
	if len(os.Args) == 2 {
		file = os.Args[1]
	}
	if err := run(file); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func run(file string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	fixture, err := harness.New(ctx, "..", os.Stdout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fixture.Close()) }()
	bin, err := cluster.Programs(ctx, fixture)
	if err != nil {
		return err
	}
	if file == "" {
		for _, name := range cluster.PlatformNames {
			if _, err := fixture.Tool(ctx, name); err != nil {
				return err
			}
		}
		return nil
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
