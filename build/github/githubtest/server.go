// Package githubtest is a small GitHub for tests: the API of releases, the downloads for browsers and the target host
// of the downloads' redirects, over HTTPS and HTTP/2. A proxy lets a program under test use GitHub's real host names.
//
// Begin with [New]. [Server.Env] is the environment of the program under test.
//
// The releases are files below a folder, owner/name/tag/asset, read at each request.
package githubtest

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// The hosts of the public GitHub, and of a GitHub Enterprise Server and its store.
const (
	APIHost        = "api.github.com"
	WebHost        = "github.com"
	BytesHost      = "release-assets.githubusercontent.com"
	EnterpriseHost = "github.example.com"
	StoreHost      = "store.example.com"
	MirrorHost     = "mirror.example.com"
)

// Hosts are all hosts of the server.
var Hosts = []string{APIHost, WebHost, BytesHost, EnterpriseHost, StoreHost, MirrorHost}

// Behaviour is the server's deviation from a healthy GitHub.
type Behaviour struct {
	// Token is the only accepted token. Private refuses requests without a token; with Login, browsers get a page.
	Token          string
	Private, Login bool
	// Forbidden answers the API's requests with 403, Limited with the rate limit, LimitedAssets only for assets,
	// Throttled with the secondary limit, Unavailable with 502. RetryAfter, in seconds, goes with Throttled.
	Forbidden, Limited, LimitedAssets, Throttled, Unavailable bool
	RetryAfter                                                int
	// Reset is the end of the rate limit.
	Reset time.Time
	// NoDigest leaves the digests out of the API's answers, WrongDigest gives wrong digests.
	NoDigest, WrongDigest bool
	// Immutable makes releases immutable, OtherTag gives releases another tag than in the request.
	Immutable, OtherTag bool
	// APIText is the API's answer in place of JSON, "" for JSON.
	APIText string
	// Failures counts the next downloads that end in 503, Truncations the downloads that break off in the middle.
	Failures, Truncations int
	// Page sends a web page for an asset, APIPage for an answer of the API, both with status 200. Loop and APILoop
	// redirect for ever, Downgrade redirects to plain HTTP.
	Page, APIPage, Loop, APILoop, Downgrade bool
	// Delay is the pause before each hundredth part of a download.
	Delay time.Duration
	// Unreachable are the hosts out of the proxy's reach.
	Unreachable []string
}

// Request is a received request.
type Request struct {
	Method, Host, Path string
	// Authorization is the header.
	Authorization string
}

// Server is a running GitHub. Close it after use.
type Server struct {
	dir      string
	proxy    net.Listener
	secure   net.Listener
	caFile   string
	servers  []*http.Server
	mu       sync.Mutex
	behave   Behaviour
	requests []Request
}

// New starts a GitHub on loopback with the releases below dir, and writes the CA certificate to caFile.
func New(dir, caFile string) (*Server, error) {
	authority, err := newAuthority(caFile)
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, caFile: caFile}
	if s.proxy, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	if s.secure, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	quiet := log.New(io.Discard, "", 0)
	proxy := &http.Server{Handler: http.HandlerFunc(s.connect), ErrorLog: quiet}
	hosts := &http.Server{
		Handler: http.HandlerFunc(s.serve), ErrorLog: quiet,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{authority}},
	}
	s.servers = []*http.Server{proxy, hosts}
	go proxy.Serve(s.proxy)
	go hosts.ServeTLS(s.secure, "", "")
	return s, nil
}

// Close stops the server.
func (s *Server) Close() {
	for _, server := range s.servers {
		server.Close()
	}
}

// Addr is the address of the proxy, HOST:PORT.
func (s *Server) Addr() string { return s.proxy.Addr().String() }

// Env is the environment that leads a program to the server. The program trusts no other server, and does not read the
// machine's certificates.
func (s *Server) Env() []string {
	return []string{
		"HTTPS_PROXY=http://" + s.Addr(), "SSL_CERT_FILE=" + s.caFile, "SSL_CERT_DIR=" + s.caFile + ".others",
	}
}

// Behave changes the behaviour.
func (s *Server) Behave(change func(*Behaviour)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.behave)
}

func (s *Server) behaviour() Behaviour {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.behave
}

// Take returns the requests since the last call.
func (s *Server) Take() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	return requests
}

// connect is the proxy, and connects every host to the server.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	host, _, _ := net.SplitHostPort(r.Host)
	if r.Method != http.MethodConnect || !slices.Contains(Hosts, host) ||
		slices.Contains(s.behaviour().Unreachable, host) {
		http.Error(w, "no such host", http.StatusBadGateway)
		return
	}
	upstream, err := net.Dial("tcp", s.secure.Addr().String())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	// Take the connection over before the answer, or the server would read the client's next bytes.
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		upstream.Close()
		return
	}
	io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() { defer client.Close(); io.Copy(client, upstream) }()
	go func() { defer upstream.Close(); io.Copy(upstream, buffered) }()
}

// serve answers for all hosts.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.record(r)
	path := strings.Trim(r.URL.Path, "/")
	switch r.Host {
	case APIHost:
		s.serveAPI(w, r, path, BytesHost)
	case WebHost:
		s.serveWeb(w, r, path, BytesHost)
	case EnterpriseHost:
		if api, ok := strings.CutPrefix(path, "api/v3/"); ok {
			s.serveAPI(w, r, api, StoreHost)
			return
		}
		s.serveWeb(w, r, path, StoreHost)
	case MirrorHost:
		_, path, _ = strings.Cut(path, WebHost+"/")
		s.serveWeb(w, r, path, "")
	default:
		s.serveBytes(w, r, path)
	}
}

func (s *Server) record(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests,
		Request{
			Method: r.Method, Host: r.Host, Path: r.URL.EscapedPath(),
			Authorization: r.Header.Get("Authorization"),
		})
}

// file returns the path of an asset, or "" for none.
func (s *Server) file(repo, tag, asset string) string {
	path := filepath.Join(s.dir, filepath.FromSlash(repo), tag, asset)
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}
