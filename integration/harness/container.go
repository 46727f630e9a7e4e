package harness

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"slices"
	"strconv"
	"time"
)

// Run runs a container with docker run.
func (d *Docker) Run(ctx context.Context, image *Image, args ...string) (*Server, error) {
	return d.RunWith(ctx, image, nil, args...)
}

// RunWith is Run with more flags for docker run.
func (d *Docker) RunWith(ctx context.Context, image *Image, flags []string, args ...string) (*Server, error) {
	container := fmt.Sprintf("%s-%d", d.prefix, d.started.Add(1))
	all := append([]string{"run", "--pull", "never", "--name", container, "--publish", "127.0.0.1::8080"}, flags...)
	_, wait, err := startServer(d.command(ctx, "docker", append(append(all, image.Ref), args...)...))
	if err != nil {
		return nil, err
	}
	stop := d.stop(container, wait)
	http, err := d.Port(ctx, container, 8080)
	if err == nil {
		err = reach(ctx, http)
	}
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	return &Server{
		GRPC: "localhost:5000", Container: container, http: http, stop: stop,
		command: d.exec(container), state: d.stateOf(container),
	}, nil
}

// reach connects to a port that Docker publishes. Docker may answer here and publish ports elsewhere: in a container,
// in another network namespace, on another machine.
func reach(ctx context.Context, published string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", published)
	if err != nil {
		return fmt.Errorf("connecting to the port of a container: %w (Docker answers, but publishes its ports "+
			"elsewhere: leave it out, with scripts/demo.sh -docker=never, or with DOCKER_HOST=unix:///none for "+
			"tests)", err)
	}
	return conn.Close()
}

// Port returns the published address of a container's port; the sample app's HTTP side has port 8080.
func (d *Docker) Port(ctx context.Context, container string, port int) (string, error) {
	return run(d.command(ctx, "docker", "port", container, strconv.Itoa(port)+"/tcp"))
}

// Start runs a container of any app's image, without waiting for the app to listen. The app's output goes to out.
func (d *Docker) Start(ctx context.Context, image *Image, out io.Writer) (*Server, error) {
	server, err := d.Detach(ctx, image, nil)
	if err != nil {
		return nil, err
	}
	logs := d.command(context.Background(), "docker", "logs", "--follow", server.Container)
	logs.Stdout, logs.Stderr = out, out
	server.stop = d.stop(server.Container, logs.Wait)
	if err := logs.Start(); err != nil {
		return nil, errors.Join(err, server.Stop())
	}
	return server, nil
}

// Detach runs a container with flags for docker run, and leaves the output to Docker.
func (d *Docker) Detach(ctx context.Context, image *Image, flags []string, args ...string) (*Server, error) {
	container := fmt.Sprintf("%s-%d", d.prefix, d.started.Add(1))
	all := append([]string{"run", "--detach", "--pull", "never", "--name", container}, flags...)
	if _, err := run(d.command(ctx, "docker", append(append(all, image.Ref), args...)...)); err != nil {
		return nil, err
	}
	return d.In(container), nil
}

// Logs returns a container's output so far, standard output and standard error.
func (d *Docker) Logs(ctx context.Context, container string) (string, error) {
	out, err := d.command(ctx, "docker", "logs", container).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("reading the log of container %q: %w", container, err)
	}
	return string(out), nil
}

// State is Docker's state of a container.
type State struct {
	Status     string // such as running
	ExitCode   int
	OOMKilled  bool
	Error      string // why the container could not run
	StartedAt  time.Time
	FinishedAt time.Time
	Health     struct {
		Status string // starting, healthy or unhealthy; empty without a health check
		Log    []Check
	}
}

// Check is one run of a container's health check. Docker keeps the last five.
type Check struct {
	End      time.Time
	ExitCode int
	Output   string
}

// State returns the state of a container, with its health check.
func (d *Docker) State(ctx context.Context, container string) (State, error) {
	text, err := run(d.command(ctx, "docker", "inspect", "--format", "{{json .State}}", container))
	if err != nil {
		return State{}, err
	}
	var state State
	if err := json.Unmarshal([]byte(text), &state); err != nil {
		return State{}, fmt.Errorf("reading the state of container %q: %w", container, err)
	}
	return state, nil
}

func (d *Docker) stateOf(container string) func(ctx context.Context) (State, error) {
	return func(ctx context.Context) (State, error) { return d.State(ctx, container) }
}

// stop returns a function that removes a container and waits for the attached command.
func (d *Docker) stop(container string, wait func() error) func() error {
	return func() error {
		_, err := run(d.command(context.Background(), "docker", "rm", "--force", container))
		_ = wait() // fails because the container ended
		return err
	}
}

// In returns a running container as a Server, to execute programs with flags for docker exec, such as --user.
func (d *Docker) In(container string, flags ...string) *Server {
	return &Server{
		Container: container, stop: d.stop(container, func() error { return nil }),
		command: d.exec(container, flags...), state: d.stateOf(container),
	}
}

// exec returns a function that makes commands of programs in a container.
func (d *Docker) exec(container string, flags ...string) func(ctx context.Context, args ...string) *exec.Cmd {
	return func(ctx context.Context, args ...string) *exec.Cmd {
		return d.command(ctx, "docker", slices.Concat([]string{"exec"}, flags, []string{container}, args)...)
	}
}
