package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

// The channels of the protocol by which a cluster executes commands (v5.channel.k8s.io), as the first byte of messages.
const (
	stdoutChannel = 1
	stderrChannel = 2
	errorChannel  = 3
)

// startAPI starts the part of a cluster's API that discover asks, and returns a kubeconfig for it. The container "app"
// has a probe that prints a report, the others have none.
func startAPI(t *testing.T, report string) (kubeconfig string) {
	t.Helper()
	const pod = "/api/v1/namespaces/shop/pods/app-1"
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+pod, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"kind":"Pod","spec":{"containers":[{"name":"app"},{"name":"other"}]}}`)
	})
	mux.HandleFunc("GET "+pod+"/exec", func(w http.ResponseWriter, r *http.Request) {
		upgrader := websocket.Upgrader{Subprotocols: []string{"v5.channel.k8s.io"}}
		conn, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		status := `{"status":"Success"}`
		if query := r.URL.Query(); query.Get("container") != "app" || !slices.Contains(query["command"], "-discover") {
			status = `{"status":"Failure","message":"exec: \"/layers/...\": stat: no such file or directory"}`
			send(t, conn, stderrChannel, "said by the runtime")
		} else {
			send(t, conn, stdoutChannel, report)
		}
		send(t, conn, errorChannel, status)
		end := websocket.FormatCloseMessage(websocket.CloseNormalClosure, "")
		_ = conn.WriteMessage(websocket.CloseMessage, end) // the client may have gone
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	kubeconfig = filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf("clusters: [{name: c, cluster: {server: %q}}]\ncontexts: [{name: c, context: {cluster: c, "+
		"namespace: shop}}]\ncurrent-context: c\n", server.URL)
	if err := os.WriteFile(kubeconfig, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return kubeconfig
}

func send(t *testing.T, conn *websocket.Conn, channel byte, text string) {
	t.Helper()
	if err := conn.WriteMessage(websocket.BinaryMessage, append([]byte{channel}, text...)); err != nil {
		t.Error(err)
	}
}

const (
	noServer  = `{"sockets":[{"address":"localhost:8080","grpc":false}]}`
	oneServer = `{"sockets":[{"address":"localhost:6001","grpc":true,"readinessProbe":{"grpc":{"port":6001}}},` +
		`{"address":"localhost:8080","grpc":false}]}`
	twoServers = `{"sockets":[{"address":"a","grpc":true,"readinessProbe":{"grpc":{"port":1}}},` +
		`{"address":"b","grpc":true,"readinessProbe":{"grpc":{"port":2}}}]}`
)

func TestDiscover(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		report, args string
		out, err     string
	}{
		{oneServer, "discover app-1", "address: localhost:6001\nreadinessProbe:\n  grpc:\n    port: 6001\n", ""},
		{oneServer, "discover app-1 -c app -o json", `"readinessProbe":{"grpc":{"port":6001}}`, ""},
		{
			oneServer, "discover app-1 -c other", "",
			"said by the runtime (its image has no probe: run one in a debug container",
		},
		{oneServer, "discover app-2", "", `reading the pod "app-2" in the namespace "shop": 404`},
		{"flag provided but not defined", "discover app-1 -c app", "", "an older probe has no -discover"},
		{noServer, "discover app-1", "", `executing the probe in "other"`},
		{oneServer, "patch --from-pod=app-1 -f -", "        port: 6001\n", ""},
		{twoServers, "patch --from-pod=app-1 -f -", "", "2 of its sockets [a, b] have a health service"},
	} {
		args := append(strings.Fields(c.args), "--pod-timeout=10s", "--kubeconfig="+startAPI(t, c.report))
		in := strings.NewReader("kind: Pod\nspec:\n  containers:\n  - name: app\n    image: app:1\n")
		var out, messages bytes.Buffer
		err := run(t.Context(), args, in, &out, &messages)
		if !strings.Contains(out.String(), c.out) || (c.err == "") != (err == nil) ||
			err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s prints %q (%v)\n%s", c.args, out.String(), err, messages.String())
		}
	}
}
