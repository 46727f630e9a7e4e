package harness

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// ProbePath is the path of the probe in each image, promised by the buildpack.
const ProbePath = "/layers/grpc-cnb_health-probe/probe/bin/grpc_health_probe"

// Server is an app that runs from an image.
type Server struct {
	// GRPC is the address of the sample app for a probe beside the server.
	GRPC string
	// Container is the name or id of the container in Docker; empty on the platform without Docker.
	Container string

	http    string // address of the sample app's HTTP side, seen from here
	command func(ctx context.Context, args ...string) *exec.Cmd
	state   func(ctx context.Context) (State, error) // nil on the platform without Docker
	stop    func() error
}

// Result is the result of a program.
type Result struct {
	Code   int
	Output string // standard output and standard error
}

// Exec executes a program of the image beside the server, like an exec probe. An error means that the program did not
// start; the caller checks the exit code.
func (s *Server) Exec(ctx context.Context, args ...string) (Result, error) {
	for refused := 0; ; refused++ {
		result, err := s.exec(ctx, args...)
		if err != nil || refused == maxRefused || !becomesAnother(result) {
			return result, err
		}
		time.Sleep(refusedPause)
	}
}

const (
	maxRefused   = 20
	refusedPause = 100 * time.Millisecond
)

// becomesAnother reports whether runc refused to execute a program during an execve(2) of the container's first
// process, such as the lifecycle's launcher on the way to the app. Linux first ends the threads of the process and
// shows a zombie meanwhile; runc then takes the container for a stopped container.
func becomesAnother(result Result) bool {
	return result.Code == refusedByRuntime && slices.ContainsFunc([]string{
		"cannot exec in a stopped container", "container still running", "error executing setns process",
	}, func(text string) bool { return strings.Contains(result.Output, text) })
}

// refusedByRuntime is the exit code of docker exec if the runtime does not start the program.
const refusedByRuntime = 126

func (s *Server) exec(ctx context.Context, args ...string) (Result, error) {
	var out bytes.Buffer
	cmd := s.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return Result{}, fmt.Errorf("executing %q: %w", args, err)
	}
	return Result{Code: cmd.ProcessState.ExitCode(), Output: out.String()}, nil
}

// Control requests a path of the sample app's HTTP side, such as /make-not-serving.
func (s *Server) Control(ctx context.Context, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.http+path, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("controlling the app: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("controlling the app with %q: status %s: %s", path, response.Status, body)
	}
	return err
}

// State asks Docker for the state of the server's container. Without Docker the state is empty.
func (s *Server) State(ctx context.Context) (State, error) {
	if s.state == nil {
		return State{}, nil
	}
	return s.state(ctx)
}

// Stop ends the server.
func (s *Server) Stop() error {
	return s.stop()
}

// listening is the app's first line of output.
type listening struct{ GRPC, HTTP string }

// startServer starts the app and returns after the app has printed the addresses. wait returns after the end of the
// process.
func startServer(cmd *exec.Cmd) (at listening, wait func() error, err error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return at, nil, err
	}
	if err := cmd.Start(); err != nil {
		return at, nil, fmt.Errorf("starting %q: %w", strings.Join(cmd.Args, " "), err)
	}
	line, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &at)
	}
	if err != nil {
		err = errors.Join(err, cmd.Cancel(), cmd.Wait())
		return at, nil, fmt.Errorf("waiting for %q to listen: %w\n%s%s", strings.Join(cmd.Args, " "), err, line,
			stderr.String())
	}
	return at, cmd.Wait, nil
}
