package cluster

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Registry is the address of the cluster's registry in the cluster. containerd takes the images of all registries from
// there: registry.example.com/my-app:1.0.0 is my-app:1.0.0 of the cluster's registry.
const Registry = Address + ":5000"

// Registry returns the address of the cluster's registry on this machine, on loopback, where Docker Engine and other
// clients require no TLS. The cluster also knows an image pushed there by that address.
func (c *Cluster) Registry() string {
	return c.forward.Addr().String()
}

// Push puts an image into the registry under the name in manifests, whatever the name's registry.
func (c *Cluster) Push(ctx context.Context, ref string, image v1.Image) error {
	tag, err := name.NewTag(ref)
	if err != nil {
		return err
	}
	inside, err := name.NewTag(Registry+"/"+tag.RepositoryStr()+":"+tag.TagStr(), name.Insecure)
	if err != nil {
		return err
	}
	transport := &http.Transport{DialContext: c.Dial}
	defer transport.CloseIdleConnections()
	if err := remote.Write(inside, image, remote.WithContext(ctx), remote.WithTransport(transport)); err != nil {
		return fmt.Errorf("pushing image %q: %w", ref, err)
	}
	return nil
}

func (c *Cluster) forwardRegistry() (err error) {
	if c.forward, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return fmt.Errorf("listening for the registry: %w", err)
	}
	go func() {
		for {
			conn, err := c.forward.Accept()
			if err != nil {
				return // Close
			}
			go c.relay(conn)
		}
	}()
	return nil
}

// relay copies between a client and the registry. Errors are left to the client, which sees the closed connection.
func (c *Cluster) relay(client net.Conn) {
	defer client.Close()
	server, err := c.Dial(context.Background(), "tcp", Registry)
	if err != nil {
		return
	}
	defer server.Close()
	var copies sync.WaitGroup
	for _, pair := range [][2]net.Conn{{client, server}, {server, client}} {
		copies.Go(func() {
			_, _ = io.Copy(pair[0], pair[1])
			if to, ok := pair[0].(*net.TCPConn); ok {
				_ = to.CloseWrite()
			}
		})
	}
	copies.Wait()
}
