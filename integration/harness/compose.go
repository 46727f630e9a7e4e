package harness

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
)

// Compose is a project of Docker Compose. Close removes containers, network and volumes of the project.
type Compose struct {
	docker  *Docker
	command []string // docker-compose or docker compose, with the project's name and files
	env     []string // variables for the files
}

// ComposeNeeds returns what this machine lacks to run Compose; nil for nothing.
func (d *Docker) ComposeNeeds(ctx context.Context) error {
	_, err := d.composeCommand(ctx)
	return err
}

// composeCommand returns the command of Compose here: version 2 or newer, a plugin of docker, or version 1, a program.
func (d *Docker) composeCommand(ctx context.Context) ([]string, error) {
	if _, err := run(d.command(ctx, "docker", "compose", "version")); err == nil {
		return []string{"docker", "compose"}, nil
	}
	if _, err := exec.LookPath("docker-compose"); err != nil {
		return nil, fmt.Errorf("looking for Docker Compose: %w", err)
	}
	return []string{"docker-compose"}, nil
}

// Compose makes a project of a Compose file and the text of a second file over the first, with variables (NAME=value)
// for the files. Nothing is started yet.
func (d *Docker) Compose(ctx context.Context, file, second string, env ...string) (*Compose, error) {
	command, err := d.composeCommand(ctx)
	if err != nil {
		return nil, err
	}
	folder, err := d.fixture.Stage(map[string]string{"second.yaml": second})
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s-%d", d.prefix, d.started.Add(1))
	command = append(command, "--project-name", name, "--file", file, "--file", filepath.Join(folder, "second.yaml"))
	return &Compose{docker: d, command: command, env: env}, nil
}

// Run runs Compose with a command line such as "up", "--detach", and returns the output.
func (c *Compose) Run(ctx context.Context, args ...string) (string, error) {
	cmd := c.docker.command(ctx, c.command[0], slices.Concat(c.command[1:], args)...)
	cmd.Env = slices.Concat(cmd.Env, c.env)
	return run(cmd)
}

// Server returns a service's container of the sample app. The second file must publish the app's HTTP side.
func (c *Compose) Server(ctx context.Context, service string) (*Server, error) {
	id, err := c.container(ctx, service)
	if err != nil {
		return nil, err
	}
	http, err := c.docker.Port(ctx, id, 8080)
	if err != nil {
		return nil, err
	}
	return &Server{GRPC: "localhost:5000", Container: id, http: http, stop: c.Close, command: c.docker.exec(id)}, nil
}

// State returns Docker's state of a service's container; the zero State without a container.
func (c *Compose) State(ctx context.Context, service string) (State, error) {
	id, err := c.container(ctx, service)
	if err != nil || id == "" {
		return State{}, err
	}
	return c.docker.State(ctx, id)
}

// container returns the id of a service's container, running or not; empty without a container.
func (c *Compose) container(ctx context.Context, service string) (string, error) {
	return c.Run(ctx, "ps", "--all", "--quiet", service)
}

// Close stops and removes the project.
func (c *Compose) Close() error {
	_, err := c.Run(context.Background(), "down", "--volumes", "--remove-orphans", "--timeout", "0")
	return err
}
