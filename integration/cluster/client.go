package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// connect makes the client of the API server and returns when the server is ready.
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
			MaxIdleConnsPerHost: 100, // for as many parallel tests
		}}
		_, err = c.ask(ctx, http.MethodGet, "/readyz", nil)
		return err
	})
}

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

// Read decodes a resource or a list of resources by the path in the API server, such as
// /api/v1/namespaces/default/pods/my-app. Repeated reads cost much less than kubectl.
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

// conditions are the conditions of a resource.
type conditions []struct{ Type, Status string }

// hold reports whether a condition is true.
func (c conditions) hold(name string) bool {
	return slices.Contains(c, struct{ Type, Status string }{name, "True"})
}

// nodeReady returns nil when pods can be created in the default namespace and the node takes pods.
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
