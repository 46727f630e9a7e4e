package lean_test

import (
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// A process that may open no more files says so, whatever it needs them for. Go's runtime may keep one for the limit of
// CPU time in the container's cgroup.
func TestLimitOfDescriptors(t *testing.T) {
	t.Parallel()
	path, err := program("grpc_health_probe")
	if err != nil {
		t.Fatal(err)
	}
	plain, secure := serveHealth(t), serveHealth(t, grpc.Creds(credentials.NewTLS(serverTLS())))
	for _, c := range []struct {
		args   []string
		enough int    // descriptors
		other  string // what is right as well, once there are enough
	}{
		{args: []string{"-addr=" + plain}, enough: 5},
		{args: []string{"-addr=" + plain, "-rpc-header-file=a=/dev/null"}, enough: 5},
		{args: []string{"-addr=" + secure, "-tls", "-tls-no-verify"}, enough: 7},
		{args: []string{"-addr=localhost:no-such-port"}, enough: 7, other: "unknown port"},
		{args: []string{"-addr=nosuch.invalid:1", "-connect-timeout=1s"}, enough: 9, other: "lookup"},
	} {
		for limit := 3; limit < 10; limit++ {
			// The shell sets the limit for the program alone.
			args := append([]string{"-c", `ulimit -n "$0" && exec "$@"`, strconv.Itoa(limit), path}, c.args...)
			cmd := exec.Command("sh", args...)
			cmd.Env = []string{}
			out, err := cmd.CombinedOutput()
			text := string(out)
			says := strings.Contains(text, "too many open files\nhint: raise the limit of open files")
			looked := c.other != "" && (strings.Contains(text, c.other) || strings.Contains(text, "looking up"))
			if err != nil && !says && !looked || limit >= c.enough && says {
				t.Errorf("%q with %d descriptors: %v\n%.300s", c.args, limit, err, text)
			}
		}
	}
}
