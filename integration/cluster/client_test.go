package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Create makes a resource in a list, such as /api/v1/namespaces/default/pods. A field that Kubernetes does not know is
// an error, as with kubectl.
func (c *Cluster) Create(ctx context.Context, list string, resource any) error {
	text, err := json.Marshal(resource)
	if err != nil {
		return err
	}
	_, err = c.ask(ctx, http.MethodPost, list+"?fieldValidation=Strict", bytes.NewReader(text))
	return err
}

// Delete deletes a resource by its path. What belongs to it goes later.
func (c *Cluster) Delete(ctx context.Context, path string) error {
	_, err := c.ask(ctx, http.MethodDelete, path, nil)
	return err
}

// Command prepares a program of the cluster, or any other by its path, with the cluster's kubeconfig. It is in the
// cluster's network if Run or Launch starts it.
func (c *Cluster) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	if !strings.Contains(name, "/") {
		name = filepath.Join(c.bin, name)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(c.folder, kubeconfig), "HOME="+c.folder)
	return cmd
}

// Launch starts a command in the cluster's network.
func (c *Cluster) Launch(cmd *exec.Cmd) error {
	return c.inside(cmd.Start)
}

// Run runs a command in the cluster's network and returns its standard output. Its error has what it printed.
func (c *Cluster) Run(cmd *exec.Cmd) (string, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := c.Launch(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		return stdout.String(), fmt.Errorf("running %q: %w\n%s%s", strings.Join(cmd.Args, " "), err, stdout.String(),
			stderr.String())
	}
	return stdout.String(), nil
}

// Kubectl runs kubectl as the cluster's administrator and returns what it prints.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) (string, error) {
	return c.KubectlWith(ctx, nil, args...)
}

// KubectlWith runs kubectl with a standard input, such as a manifest for "apply --filename=-".
func (c *Cluster) KubectlWith(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	cmd := c.Command(ctx, "kubectl", args...)
	cmd.Stdin = stdin
	return c.Run(cmd)
}
