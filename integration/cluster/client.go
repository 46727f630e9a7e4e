package cluster

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// connect makes the client of the API server and returns when that is ready.
func (c *Cluster) connect(ctx context.Context, dial func(context.Context, string, string) (net.Conn, error)) error {
	return c.wait(ctx, "the API server", func(ctx context.Context) error {
		token, err := os.ReadFile(filepath.Join(c.folder, tokenFile))
		if err != nil {
			return err
		}
		certificate, err := os.ReadFile(filepath.Join(c.folder, serverCertificate))
		if err != nil {
			return err
		}
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(certificate)
		c.token = string(token)
		c.http = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{
			DialContext:         dial,
			TLSClientConfig:     &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12},
			MaxIdleConnsPerHost: 100, // for as many tests at once
		}}
		_, err = c.ask(ctx, http.MethodGet, "/readyz", nil)
		return err
	})
}

// ask sends a request to the API server.
func (c *Cluster) ask(ctx context.Context, method, path string, body io.Reader) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, "https://"+Address+":"+serverPort+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	return c.do(request)
}

// Read decodes a resource, or a list of them, by its path in the API server, such as
// /api/v1/namespaces/default/pods/my-app. It costs much less than kubectl if a test asks again and again.
func (c *Cluster) Read(ctx context.Context, path string, into any) error {
	text, err := c.ask(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("decoding what the API server has at %q: %w", path, err)
	}
	return nil
}

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

// nodeReady asks whether pods can be created in the default namespace, and the node takes them.
func (c *Cluster) nodeReady(ctx context.Context) error {
	var node struct {
		Spec   struct{ Taints []struct{ Key string } }
		Status struct{ Conditions conditions }
	}
	if err := c.Read(ctx, "/api/v1/nodes/"+NodeName, &node); err != nil {
		return err
	}
	if !node.Status.Conditions.hold("Ready") || len(node.Spec.Taints) > 0 {
		return fmt.Errorf("the node is not ready: %+v", node)
	}
	return c.Read(ctx, "/api/v1/namespaces/default/serviceaccounts/default", new(struct{}))
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
