// Command demo shows the product at work: it builds an image of the sample gRPC app with the buildpack in
// dist/buildpack and the real lifecycle, runs it, and executes the probe in it while the app is SERVING, NOT_SERVING
// and stopped. scripts/demo.sh makes the buildpack and calls it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

func main() {
	docker := flag.String("docker", "auto", "whether to use Docker: auto, always or never")
	flag.Parse()
	if err := run(*docker); err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

func run(docker string) (err error) {
	// What was made is removed at each of these signals. SIGPIPE comes if nobody reads the output any more.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGPIPE)
	defer stop()
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
	platform, err := open(ctx, fixture, useDocker)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, platform.Close()) }()

	image, err := build(ctx, fixture, platform)
	if err != nil {
		return err
	}
	if err := probe(ctx, platform, image); err != nil {
		return err
	}
	fmt.Print(farewell)
	return nil
}

// choose says whether to use Docker, and the sentence that tells the user why.
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
		return true, "with Docker, which answers here (API " + api + "): pack build and docker exec", nil
	}
	if docker == "always" {
		return false, "", fmt.Errorf("looking for Docker: %w", err)
	}
	return false, "without Docker, since none answers here: " + without, nil
}

func open(ctx context.Context, fixture *harness.Fixture, useDocker bool) (harness.Platform, error) {
	if useDocker {
		defer fixture.LongStep("making base images and a builder from scratch")()
		return fixture.Docker(ctx)
	}
	return fixture.Phases(runtime.GOARCH)
}

func build(ctx context.Context, fixture *harness.Fixture, platform harness.Platform) (*harness.Image, error) {
	done := fixture.LongStep("compiling the sample app, a gRPC server with the standard health service")
	app, err := fixture.StageSample(ctx, nil)
	done()
	if err != nil {
		return nil, err
	}
	defer fixture.Step("building an image of the app with the buildpack")()
	return platform.Build(ctx, harness.Build{
		Name: "my-app", App: app, Buildpack: fixture.Dist("buildpack"),
		Log: os.Stdout,
	})
}

const farewell = `
All as expected. With an app of your own:

  pack build my-app --path /path/to/my-app --builder my-builder --buildpack from=builder --buildpack dist/buildpack

(./scripts/demo.sh /path/to/my-app says in a second what that build finds), and in the container of its pod:

  readinessProbe:
    exec:
      command: ["` + harness.ProbePath + `", "-addr=localhost:5000"]
    timeoutSeconds: 3
`
