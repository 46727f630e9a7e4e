package harness

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Registry is a registry of images on loopback, where Docker Engine and the lifecycle require no TLS. NewRegistry
// starts a registry in this process; Fixture.Distribution starts a widely used registry program.
type Registry struct {
	address string // host:port
	login   Login
	close   func() error
}

// Login is a user of a registry. The zero Login is for a registry open to everybody.
type Login struct {
	User, Password string
}

// NewRegistry starts an empty registry in this process.
func NewRegistry() (*Registry, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening for the registry: %w", err)
	}
	quiet := registry.Logger(log.New(io.Discard, "", 0))
	server := &http.Server{Handler: registry.New(quiet), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // until Close
	return &Registry{address: listener.Addr().String(), close: server.Close}, nil
}

// Address returns the registry's host:port.
func (r *Registry) Address() string {
	return r.address
}

// Name returns the full name of an image in the registry.
func (r *Registry) Name(short string) string {
	return r.address + "/" + short
}

// Push stores an image and returns the full name.
func (r *Registry) Push(short string, image v1.Image) (string, error) {
	ref, err := name.ParseReference(r.Name(short))
	if err != nil {
		return "", err
	}
	return ref.Name(), remote.Write(ref, image, r.Auth())
}

// Pull gets an image by its full name. The log is the output of the image's build.
func (r *Registry) Pull(ref, log string) (*Image, error) {
	parsed, err := name.ParseReference(ref)
	if err != nil {
		return nil, err
	}
	image, err := remote.Image(parsed, r.Auth())
	if err != nil {
		return nil, fmt.Errorf("pulling %q: %w", ref, err)
	}
	return &Image{Image: image, Ref: ref, Log: log}, nil
}

// Auth returns the login as an option of a registry client.
func (r *Registry) Auth() remote.Option {
	if r.login == (Login{}) {
		return remote.WithAuth(authn.Anonymous)
	}
	return remote.WithAuth(&authn.Basic{Username: r.login.User, Password: r.login.Password})
}

// Close ends the registry.
func (r *Registry) Close() error {
	return r.close()
}
