package lean_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/flags"
	"github.com/grpc-cnb/health-probe/probe/lean"
)

// optionsOf returns the options that flags mean.
func optionsOf(t *testing.T, words ...string) *options.Options {
	t.Helper()
	c := flags.New("", nil)
	if err := c.Parse(words); err != nil {
		t.Fatal(err)
	}
	o, err := c.Options(address.AnyPort)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// A connection that is kept stays open after a call that took too long, so the server has to be told that nobody waits
// for that any more. This one does not look at grpc-timeout.
func TestCallThatTookTooLongIsCancelled(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		close(over)
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	kept := &lean.Kept{}
	defer kept.Close()
	conn, err := kept.Dial(optionsOf(t, "-addr="+strings.TrimPrefix(server.URL, "http://"),
		"-connect-timeout=1m", "-rpc-timeout=100ms"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answer := conn.Check([]string{""})[0]
	failed, ok := errors.AsType[*outcome.RPCError](answer.Err)
	if !ok || failed.Code != outcome.CodeDeadlineExceeded {
		t.Fatalf("the answer is %+v, want that it took too long", answer)
	}
	select {
	case <-over:
	case <-time.After(hangs):
		t.Error("the call goes on in the server")
	}
}

// A connection that is kept does not show that the server still takes connections, which -mode=connect asks.
func TestServerThatTakesNoMoreConnectionsIsNoticed(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	defer server.Close()
	kept := &lean.Kept{}
	defer kept.Close()
	conn, err := kept.Dial(optionsOf(t, "-addr="+strings.TrimPrefix(server.URL, "http://"), "-connect-timeout=1m"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Settle(); err != nil {
		t.Errorf("as long as the server takes connections: %v", err)
	}
	server.Listener.Close()
	err = conn.Settle()
	if failed, ok := errors.AsType[*check.DialError](err); !ok || failed.Step != check.StepConnect {
		t.Errorf("once it takes none: %v", err)
	}
}
