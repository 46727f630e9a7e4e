package harness

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Registry is a registry of images in this process, on loopback, where Docker Engine and the lifecycle ask for no TLS.
type Registry struct {
	address string // host:port
	server  *http.Server
}

// NewRegistry starts an empty registry.
func NewRegistry() (*Registry, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the registry: %w", err)
	}
	quiet := registry.Logger(log.New(io.Discard, "", 0))
	r := &Registry{
		address: listener.Addr().String(),
		server:  &http.Server{Handler: registry.New(quiet), ReadHeaderTimeout: 10 * time.Second},
	}
	go r.server.Serve(listener)
	return r, nil
}

// Name is the full name of an image in the registry.
func (r *Registry) Name(short string) string {
	return r.address + "/" + short
}

// Push stores an image and returns its full name.
func (r *Registry) Push(short string, image v1.Image) (string, error) {
	ref, err := name.ParseReference(r.Name(short))
	if err != nil {
		return "", err
	}
	return ref.Name(), remote.Write(ref, image)
}

// Pull gets an image by its full name. The log is that of the build that made it.
func (r *Registry) Pull(ref, log string) (*Image, error) {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return nil, err
	}
	image, err := remote.Image(parsed)
	if err != nil {
		return nil, fmt.Errorf("pulling %q: %w", ref, err)
	}
	return &Image{Image: image, Ref: ref, Log: log}, nil
}

// Close ends the registry.
func (r *Registry) Close() error {
	return r.server.Close()
}
