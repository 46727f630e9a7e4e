package harness

import (
	"net"
	"strings"
	"testing"
)

// Where Docker answers and its ports do not, the error says how to do without Docker.
func TestUnreachablePorts(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := reach(t.Context(), listener.Addr().String()); err != nil {
		t.Errorf("with a listener: %v", err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	err = reach(t.Context(), "127.0.0.1:1") // the port that was closed may be another program's now
	if err == nil || !strings.Contains(err.Error(), "scripts/demo.sh -docker=never") {
		t.Errorf("without a listener: %v", err)
	}
}
