package github

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a network in memory with one listener, for the tests whose time is that of a synctest bubble.
type pipes struct {
	conns chan net.Conn
	open  context.Context
	close context.CancelFunc
}

func newPipes() pipes {
	open, cancel := context.WithCancel(context.Background())
	return pipes{make(chan net.Conn), open, cancel}
}

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p.conns <- server
	return client, nil
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.open.Done():
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error   { p.close(); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 443} }

// servers are servers that do not send the content at once.
var servers = map[string]struct {
	send http.HandlerFunc
	// err is the end of the error, "" if the download succeeds.
	err string
}{
	"trickles in": {send: func(w http.ResponseWriter, r *http.Request) {
		for i := range content {
			w.Write(content[i : i+1])
			http.NewResponseController(w).Flush()
			time.Sleep(responseTimeout - time.Second)
		}
	}},
	"stalls": {send: func(w http.ResponseWriter, r *http.Request) {
		w.Write(content[:len(content)/2])
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}, err: "waiting for example.com: it took too long (check the network, and $HTTPS_PROXY if you use a proxy)"},
	"does not begin": {send: func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	}, err: "waiting for example.com: it took too long (check the network, and $HTTPS_PROXY if you use a proxy)"},
	"breaks off": {send: func(w http.ResponseWriter, r *http.Request) {
		w.Write(content[:len(content)/2])
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}, err: "reading from example.com: it broke off, in each of 4 tries"},
}

var content = []byte("tool content")

func TestDownloadsMayTakeTimeButNotStallOrBreakOff(t *testing.T) {
	for name, c := range servers {
		for protocol, http2 := range map[string]bool{"HTTP/1.1": false, "HTTP/2": true} {
			t.Run(name+" over "+protocol, func(t *testing.T) {
				t.Parallel()
				file := filepath.Join(t.TempDir(), "file")
				synctest.Test(t, func(t *testing.T) { checkDownload(t, file, c.send, http2, c.err) })
			})
		}
	}
}

func checkDownload(t *testing.T, file string, send http.HandlerFunc, http2 bool, want string) {
	network := newPipes()
	server := httptest.NewUnstartedServer(send)
	server.Listener, server.EnableHTTP2, server.Config.ErrorLog = network, http2, log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	client := clientOn(t, network, server.Certificate())
	defer client.retry.HTTPClient.CloseIdleConnections()

	digest := sha256.Sum256(content)
	request := Request{Repo: "my-org/tool", Asset: "tool", Tag: "v1", SHA256: hex.EncodeToString(digest[:])}
	asset, err := client.Resolve(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	err = client.Download(t.Context(), request, asset, file)
	if took := time.Since(start); took >= maxTime {
		t.Errorf("it took %v, all the time there is", took)
	}
	if want != "" {
		if want := `downloading "tool" of release "v1" of my-org/tool: ` + want; err == nil || err.Error() != want {
			t.Errorf("error is %v, want %s", err, want)
		}
		return
	}
	if text, readErr := os.ReadFile(file); errors.Join(err, readErr) != nil || string(text) != string(content) {
		t.Errorf("%q, %v, %v", text, err, readErr)
	}
}

// clientOn returns a client of a GitHub named example.com, which is the listener of the network.
func clientOn(t *testing.T, network pipes, authority *x509.Certificate) *Client {
	t.Helper()
	api, err := ParseAPI("https://example.com")
	if err != nil {
		t.Fatal(err)
	}
	client, err := New(Host{API: api, Logf: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	base := client.retry.HTTPClient.Transport.(transport).base.(*http.Transport)
	base.Proxy, base.DialContext = nil, network.dial
	base.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
	base.TLSClientConfig.RootCAs.AddCert(authority)
	return client
}
