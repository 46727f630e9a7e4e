package bridge

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/grpc-cnb/health-probe/internal/cgroup"
)

const (
	// siegeMemory is the limit of the bridge under siege, in MiB: the one in the examples.
	siegeMemory = 24
	// besiegers is how many processes attack at once.
	besiegers = 3
	// siegeVariable is the environment variable that says for how many seconds each attack goes on.
	siegeVariable = "BRIDGE_SIEGE_SECONDS"
	// inTime is the time that the kubelet has, if it is told nothing else.
	inTime = time.Second
)

// TestSiege attacks a bridge that may have as much memory as in the examples, in each way, from several processes. It
// is never killed, new callers get their answer in time except for one in a hundred, and all of them a second after the
// attack. Other tests beside it would be attackers too, so it has a part of its own in scripts/test.sh.
func TestSiege(t *testing.T) {
	text := os.Getenv(siegeVariable)
	if text == "" {
		t.Skipf("left out: it is run alone, by scripts/test.sh siege, which sets $%s", siegeVariable)
	}
	seconds, err := strconv.Atoi(text)
	if err != nil || seconds <= 0 {
		t.Fatalf("reading $%s: %q is not a number of seconds", siegeVariable, text)
	}
	length := time.Duration(seconds) * time.Second
	group := limitedGroup(t)
	server := startServer(t, t.TempDir())
	bridge, addr := besieged(t, group, "-addr="+server.Addr)
	for kind := range 8 { // the pod has been probed before
		if err := askAnew(t, addr, kind); err != nil {
			t.Fatal(err)
		}
		time.Sleep(returnAfter / 4)
	}
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			stop := besiege(t, a, addr)
			asked, missed := askDuring(t, addr, length)
			// One in a hundred is little of what can be asked in some seconds: a few more say whether it holds.
			for more := 0; more < 3 && len(missed)*100 > asked; more++ {
				again, alsoMissed := askDuring(t, addr, 2*length)
				asked, missed = asked+again, append(missed, alsoMissed...)
			}
			stop()
			time.Sleep(time.Second)
			later := 0
			for range 20 {
				if err := askAnew(t, addr, later); err != nil {
					t.Errorf("a second after the attack: %v", err)
				}
				later++
			}
			if bridge.ended() {
				t.Fatal("the bridge was killed")
			}
			if len(missed)*100 > asked {
				t.Errorf("%d of %d questions had no answer in time, such as %v", len(missed), asked, missed[0])
			}
			t.Logf("%d of %d questions missed, memory up to %s", len(missed), asked, group.peak())
		})
	}
}

// limitedGroup makes a cgroup with the limit.
func limitedGroup(t *testing.T) limited {
	t.Helper()
	fail := t.Skipf
	if os.Getenv("CI") == "true" {
		fail = t.Fatalf
	}
	mounted, err := cgroup.Mounted()
	if err != nil {
		fail("needs cgroups: %v", err)
	}
	h, err := cgroup.WithController("memory", mounted)
	if err != nil {
		fail("needs cgroups that limit memory: %v", err)
	}
	folder, err := h.MakeLimited("bridge-siege-", h.MemoryLimit(siegeMemory)...)
	if err != nil {
		fail("needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := cgroup.Remove(folder); err != nil {
			t.Errorf("removing the cgroup: %v", err)
		}
	})
	return limited{folder}
}

// limited is a cgroup that limits memory.
type limited struct{ folder string }

// peak returns the most memory that the group has had, in KiB.
func (l limited) peak() string {
	for _, name := range []string{"memory.max_usage_in_bytes", "memory.peak"} {
		if text, err := os.ReadFile(filepath.Join(l.folder, name)); err == nil {
			n, _ := strconv.Atoi(strings.TrimSpace(string(text))) // it is for readers
			return fmt.Sprintf("%d KiB", n>>10)
		}
	}
	return "an unknown amount"
}

// process is a program that runs.
type process struct {
	*exec.Cmd
	done chan struct{} // closed at its end
}

func (p process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// besieged starts a bridge in a cgroup, as it is shipped.
func besieged(t *testing.T, group limited, flags ...string) (process, string) {
	t.Helper()
	const enter = `echo $$ >"$0/cgroup.procs" && exec "$@"`
	words := append([]string{"-c", enter, group.folder, shipped(t), "-listen=127.0.0.1:0"}, flags...)
	cmd := exec.Command("sh", words...)
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(log)
	line, err := lines.ReadString('\n')
	found := regexp.MustCompile(`^listening on (\S+), asking `).FindStringSubmatch(line)
	if err != nil || found == nil {
		t.Fatalf("first line of the log is %q: %v", line, err)
	}
	p := process{cmd, make(chan struct{})}
	go func() {
		_, _ = io.Copy(io.Discard, lines) // the end of the program ends it
		_ = cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-p.done
	})
	return p, found[1]
}

// besiege starts the processes of an attack, and returns how to end them.
func besiege(t *testing.T, a attack, addr string) (stop func()) {
	t.Helper()
	var all []*exec.Cmd
	for range besiegers {
		// Attackers are on other machines, so all their threads leave a bridge its processor, even a single one.
		attacker := exec.Command("nice", "-n", "19", "bridge_attacker", a.name, addr)
		attacker.Stderr = os.Stderr
		if err := attacker.Start(); err != nil {
			t.Fatal(err)
		}
		all = append(all, attacker)
	}
	time.Sleep(200 * time.Millisecond) // until all of them attack
	return func() {
		for _, attacker := range all {
			_ = attacker.Process.Signal(unix.SIGKILL)
			_ = attacker.Wait() // it was killed
		}
	}
}

// askDuring asks again and again, on new connections, and returns how often and what went wrong.
func askDuring(t *testing.T, addr string, length time.Duration) (asked int, missed []error) {
	t.Helper()
	var mu sync.Mutex
	var asking sync.WaitGroup
	for end := time.Now().Add(length); time.Now().Before(end); asked++ {
		kind := asked
		asking.Go(func() {
			if err := askAnew(t, addr, kind); err != nil {
				mu.Lock()
				defer mu.Unlock()
				missed = append(missed, err)
			}
		})
		time.Sleep(20 * time.Millisecond)
	}
	asking.Wait()
	return asked, missed
}

// askAnew asks on a new connection, as the kubelet does: by gRPC or by HTTP, from an address that the bridge keeps
// connections for, or from another one.
func askAnew(t *testing.T, addr string, kind int) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), inTime)
	defer cancel()
	var dialer net.Dialer
	if kind%4 >= 2 {
		dialer.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 9)}
	}
	if kind%2 == 0 {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+readyPage, http.NoBody)
		if err != nil {
			return err
		}
		response, err := (&http.Transport{
			DisableKeepAlives: true, DialContext: dialer.DialContext,
		}).RoundTrip(request)
		if err != nil {
			return fmt.Errorf("from %v: %w", dialer.LocalAddr, err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("HTTP status is %s", response.Status)
		}
		return nil
	}
	conn, err := grpc.NewClient("passthrough:///"+addr, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, addr string) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", addr)
		}))
	if err != nil {
		return err
	}
	defer conn.Close()
	answer, err := healthpb.NewHealthClient(conn).Check(ctx, &healthpb.HealthCheckRequest{})
	if err == nil && answer.GetStatus() != healthpb.HealthCheckResponse_SERVING {
		err = fmt.Errorf("status is %v", answer.GetStatus())
	}
	if err != nil {
		return fmt.Errorf("from %v: %w", dialer.LocalAddr, err)
	}
	return nil
}
