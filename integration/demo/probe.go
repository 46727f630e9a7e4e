package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// states are the states of the app, with the expected exit code of the probe.
var states = []struct {
	does    string
	control string // path of the app's HTTP side that sets the state
	code    int
}{
	{"the app serves", "/make-serving", 0},
	{"the app says NOT_SERVING", "/make-not-serving", 4},
	{"the app serves again", "/make-serving", 0},
	{"the gRPC server stops", "/stop-grpc", 2},
}

// probe runs the image and executes the probe in each state.
func probe(ctx context.Context, platform harness.Platform, image *harness.Image) (err error) {
	server, err := platform.Run(ctx, image)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	for _, state := range states {
		fmt.Printf("\n%s\n", state.does)
		if err := server.Control(ctx, state.control); err != nil {
			return err
		}
		command, shown := probeCommand(server)
		result, err := server.Exec(ctx, command...)
		if err != nil {
			return err
		}
		fmt.Printf("$ %s\n%s\nexit %d\n", shown, strings.TrimSpace(result.Output), result.Code)
		if result.Code != state.code {
			return fmt.Errorf("probing while %s: exit code %d, not %d", state.does, result.Code, state.code)
		}
	}
	return nil
}

// probeCommand returns the probe's command in the app's container, and the command as typed by a user. In a container
// the path alone is enough: the app listens where the build found it. Without Docker the app has another port.
func probeCommand(server *harness.Server) (command []string, shown string) {
	if server.Container != "" {
		return []string{harness.ProbePath}, "docker exec " + server.Container + " " + harness.ProbePath
	}
	command = []string{harness.ProbePath, "-addr=" + server.GRPC}
	return command, strings.Join(command, " ")
}
