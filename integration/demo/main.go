// Command demo shows the product at work: the demo builds an image of the sample gRPC app with the buildpack and the
// real lifecycle, runs the image, and executes the probe there while the app is SERVING, NOT_SERVING and stopped.
// scripts/demo.sh makes the buildpack and calls the demo.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

func main() {
	docker := flag.String("docker", "auto", "whether to use Docker: auto, always or never")
	buildpack := flag.String("buildpack", "../dist/buildpack", "the `folder` of the buildpack")
	flag.Parse()
	os.Exit(interruptible(*docker, *buildpack))
}

// interruptible runs the demo, cleans up after a signal, and returns the exit code.
func interruptible(docker, buildpack string) int {
	// SIGPIPE comes if nobody reads the output any more.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	defer stop()
	err := run(ctx, docker, buildpack)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "interrupted: everything that was made is removed")
		return exitInterrupted
	case err != nil:
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		return 1
	}
	return 0
}

// exitInterrupted is the exit code of a program after Ctrl-C, as in shells.
const exitInterrupted = 130

func run(ctx context.Context, docker, buildpack string) (err error) {
	useDocker, why, err := choose(ctx, docker)
	if err != nil {
		return err
	}
	fmt.Println(why)
	pack := ""
	if useDocker {
		pack, why = packOnPath(ctx)
		fmt.Println(why)
	}
	fixture, err := harness.New(ctx, "..", os.Stdout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, fixture.Close()) }()
	fixture.UsePack(pack)
	platform, err := open(ctx, fixture, useDocker, pack != "")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, platform.Close()) }()

	image, err := build(ctx, fixture, platform, buildpack)
	if err != nil {
		return err
	}
	if err := probe(ctx, platform, image); err != nil {
		return err
	}
	fmt.Print(farewell)
	return nil
}

// choose returns whether to use Docker, and a sentence with the reason for the user.
func choose(ctx context.Context, docker string) (use bool, why string, err error) {
	without := "the lifecycle's phases run as plain programs, the image's files in a " + harness.Isolation()
	switch docker {
	case "never":
		return false, "without Docker, as asked: " + without, nil
	case "auto", "always":
	default:
		return false, "", fmt.Errorf("reading -docker: %q is not allowed: use auto, always or never", docker)
	}
	api, err := harness.DockerAPI(ctx)
	if err == nil {
		return true, "with Docker, which answers here (API " + api + ")", nil
	}
	if docker == "always" {
		return false, "", fmt.Errorf("looking for Docker: %w", err)
	}
	return false, "without Docker, since none answers here: " + without, nil
}

func open(ctx context.Context, fixture *harness.Fixture, useDocker, usePack bool) (harness.Platform, error) {
	switch {
	case !useDocker:
		return fixture.Phases(runtime.GOARCH)
	case !usePack:
		return fixture.Creator(ctx)
	}
	defer fixture.LongStep("making base images and a builder from scratch")()
	return fixture.Docker(ctx)
}

func build(ctx context.Context, fixture *harness.Fixture, platform harness.Platform, buildpack string) (
	*harness.Image, error,
) {
	done := fixture.LongStep("compiling the sample app, a gRPC server with the standard health service")
	app, err := fixture.StageSample(ctx, nil)
	done()
	if err != nil {
		return nil, err
	}
	if buildpack, err = filepath.Abs(buildpack); err != nil {
		return nil, err
	}
	defer fixture.Step("building an image of the app with the buildpack")()
	return platform.Build(ctx, harness.Build{Name: "my-app", App: app, Buildpack: buildpack, Log: os.Stdout})
}

const farewell = `
All as expected. With an app of your own, after ./scripts/build.sh:

  pack build my-app --path /path/to/my-app --builder my-builder --buildpack from=builder --buildpack dist/buildpack

(./scripts/demo.sh /path/to/my-app says what that build finds), and in the container of its pod:

  readinessProbe: {exec: {command: ["` + harness.ProbePath + `"]}, timeoutSeconds: 4}
`
