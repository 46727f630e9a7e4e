package cluster

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"

	"golang.org/x/sys/unix"
)

// inside runs a function on a thread in the cluster's network. Processes and sockets of the function stay in that
// network.
func (c *Cluster) inside(do func() error) (err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		// The thread stays locked and ends with the goroutine: no other goroutine gets into the network.
		runtime.LockOSThread()
		if err = unix.Setns(int(c.net.Fd()), unix.CLONE_NEWNET); err != nil {
			err = fmt.Errorf("entering the cluster's network: %w", err)
			return
		}
		err = do()
	}()
	<-done
	return err
}

// Dial connects to the IP address and port of a pod, of a Service, or of the node.
func (c *Cluster) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return c.dial(ctx, new(net.Dialer), network, address)
}

func (c *Cluster) dial(ctx context.Context, d *net.Dialer, network, address string) (conn net.Conn, err error) {
	err = c.inside(func() error {
		conn, err = d.DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

// HTTP requests a URL in the cluster, such as a pod's, and returns the body of an answer with a status of success.
func (c *Cluster) HTTP(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return c.do(request)
}

func (c *Cluster) do(request *http.Request) ([]byte, error) {
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode/100 != 2 {
		err = fmt.Errorf("sending %s %q: status %s: %s", request.Method, request.URL, response.Status, body)
	}
	return body, err
}
