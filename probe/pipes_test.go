package probe_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// What a shell hands over by process substitution, standard input and a named FIFO is written after the probe has
// begun to read.
func TestCredentialsByPipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, err := probetest.StartWith("server", dir, "san=127.0.0.1", "clientauth=required", "header=a:s3cret")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("s3cret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for program := range programs {
		for _, way := range []string{"/dev/stdin", "fifo"} {
			for _, name := range []string{"ca.pem", "client.pem", "client-key.pem", "token"} {
				t.Run(program+" "+way+" "+name, func(t *testing.T) {
					t.Parallel()
					line := strings.NewReplacer("$DIR", dir).Replace("-tls -tls-ca-cert=$DIR/ca.pem " +
						"-tls-client-cert=$DIR/client.pem -tls-client-key=$DIR/client-key.pem " +
						"-rpc-header-file=a=$DIR/token")
					pipe := way
					if way == "fifo" {
						pipe = filepath.Join(t.TempDir(), "fifo")
						if err := syscall.Mkfifo(pipe, 0o600); err != nil {
							t.Fatal(err)
						}
					}
					line = strings.Replace(line, "="+filepath.Join(dir, name), "="+pipe, 1)
					cmd := exec.Command(program, append(strings.Fields(line), "-addr="+server.Addr,
						"-connect-timeout=1m", "-rpc-timeout=1m")...)
					if out, err := feed(t, cmd, way, pipe, filepath.Join(dir, name)); err != nil {
						t.Errorf("ended with %v:\n%s", err, out)
					}
				})
			}
		}
	}
}

// feed runs a program, and writes a file to it 200 ms later, in two parts.
func feed(t *testing.T, cmd *exec.Cmd, way, pipe, file string) ([]byte, error) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	writer, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		time.Sleep(200 * time.Millisecond)
		if way == "fifo" {
			if writer, err = os.OpenFile(pipe, os.O_WRONLY, 0); err != nil {
				return
			}
		}
		_, _ = writer.Write(data[:len(data)/2]) // if the probe has gone, its outcome says so
		time.Sleep(50 * time.Millisecond)
		_, _ = writer.Write(data[len(data)/2:])
		_ = writer.Close()
	}()
	return cmd.CombinedOutput()
}
