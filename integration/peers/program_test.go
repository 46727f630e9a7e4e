package peers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"text/template"
)

// python is Debian's, which sees Debian's modules.
const python = "/usr/bin/python3"

func startPython(t *testing.T) map[string]string {
	return startProgram(t, python, "testdata/server.py", certPath, keyPath)
}

func startNode(t *testing.T) map[string]string {
	return startProgram(t, "node", "testdata/server.js", certPath, keyPath)
}

// nginxListeners are the names of the servers in testdata/nginx.conf.
var nginxListeners = []string{"plain", "tls", "mtls", "tight", "bare", "orphan", "http1"}

// firstExtraFile is the descriptor that a program has the first of exec.Cmd.ExtraFiles as.
const firstExtraFile = 3

// startNginx runs nginx before a grpc-go server.
func startNginx(t *testing.T) map[string]string {
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "nginx", "-p", dir, "-c", "nginx.conf", "-e", "stderr")
	cmd.Stderr = t.Output()
	addresses := map[string]string{}
	inherited := ""
	for i, name := range nginxListeners {
		listener := listen(t)
		addresses[name] = listener.Addr().String()
		file, err := listener.File()
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		defer listener.Close() // nginx is to be the only one that has it
		cmd.ExtraFiles = append(cmd.ExtraFiles, file)
		inherited += strconv.Itoa(firstExtraFile+i) + ";"
	}
	writeConfig(t, filepath.Join(dir, "nginx.conf"), map[string]any{
		"Listen": addresses, "Upstream": startGRPCGo(t), "Cert": certPath, "Key": keyPath,
	})
	// nginx takes over the listeners that NGINX names, as it does from the nginx that it replaces: so it has ports of
	// the system's choice, and connections queue up until it is ready.
	cmd.Env = append(os.Environ(), "NGINX="+inherited)
	run(t, cmd)
	return addresses
}

func writeConfig(t *testing.T, path string, values any) {
	t.Helper()
	var config strings.Builder
	if err := template.Must(template.ParseFiles("testdata/nginx.conf")).Execute(&config, values); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(config.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
