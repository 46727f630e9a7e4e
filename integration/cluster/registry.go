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

// Registry is the address of the cluster's registry, in the cluster. containerd asks it for the images of all
// registries: registry.example.com/my-app:1.0.0 is its my-app:1.0.0.
const Registry = Address + ":5000"

// Registry is the address of the cluster's registry on this machine, on loopback, where Docker Engine and others ask
// for no TLS. An image that is pushed there can be named in the cluster by that address, too.
func (c *Cluster) Registry() string {
	return c.forward.Addr().String()
}

// Push puts an image into the registry, by the name that manifests give it, whatever its registry.
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

// forwardRegistry forwards connections from this machine to the registry.
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

// relay copies between a client and the registry. A client whose connection is closed says more than this could.
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
