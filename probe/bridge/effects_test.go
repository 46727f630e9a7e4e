package bridge

import (
	"bufio"
	"io"
	"maps"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/grpc-cnb/health-probe/probe/bridge/bridgeflags"
	"github.com/grpc-cnb/health-probe/probe/flags"
	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// ownEffects has a row for each flag that the probe does not have. What -background does takes a container, so package
// background tests it.
var ownEffects = map[string]probetest.Effect{
	bridgeflags.Listen: {Flags: "-addr=$ADDR", With: "-listen=127.0.0.3:0"},
	bridgeflags.Allow:  {Flags: "-addr=$ADDR", With: "-allow=127.0.0.4"},
	bridgeflags.Name:   {Flags: "-addr=$ADDR", With: "-name=orders"},
}

// A flag that the help of the bridge has changes what it does, and a flag of the probe that the help does not have is
// refused.
func TestEachFlagHasAnEffect(t *testing.T) {
	t.Parallel()
	help, err := exec.Command(bridgeflags.Program, "-h").Output()
	if err != nil {
		t.Fatal(err)
	}
	effects := maps.Clone(probetest.Effects)
	maps.Copy(effects, ownEffects)
	var names []string
	for _, found := range regexp.MustCompile(`(?m)^  -(\S+)`).FindAllStringSubmatch(string(help), -1) {
		names = append(names, found[1])
	}
	for _, name := range names {
		effect, ok := effects[name]
		if !ok && name != bridgeflags.Background {
			t.Errorf("-%s: add two command lines that differ in the flag, and in what the bridge does", name)
		}
		if !ok {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			effect.WantEffect(t, name, func(words []string) string { return noticed(t, words) })
		})
	}
	for _, f := range flags.All() {
		if slices.Contains(names, f.Name) {
			continue
		}
		words := []string{"-addr=:1", probetest.Effects[f.Name].With}
		out, err := exec.Command(bridgeflags.Program, words...).CombinedOutput()
		if want := "error: checking flags: the bridge has no -" + f.Name + " (flag)\nhint: "; err == nil ||
			!strings.HasPrefix(string(out), want) {
			t.Errorf("with %q it ends with %v:\n%s\nwant:\n%s", words, err, out, want)
		}
	}
}

// The longest duration is never reached. It was past at once when it was added to another.
func TestLongestDurations(t *testing.T) {
	t.Parallel()
	server := startServer(t, t.TempDir())
	for _, f := range flags.All() {
		if f.Value != "duration" || f.Name == "wait" {
			continue
		}
		addr, _ := startBridge(t, "-addr="+server.Addr, "-"+f.Name+"=2562047h47m16.854775807s")
		says(t, client(t, addr), "", "SERVING")
		if answer := getFrom(t, "127.0.0.1", "http://"+addr+"/healthz"); !strings.HasPrefix(answer, "200 ") {
			t.Errorf("with -%s it is %s", f.Name, answer)
		}
	}
}

var port = regexp.MustCompile(`:[0-9]+, asking`)

// noticed runs a bridge as a process of its own, and asks it once, from an address that the bridge does not have. It
// returns what the bridge prints, answers and ends with.
func noticed(t *testing.T, words []string) string {
	t.Helper()
	program := exec.Command(bridgeflags.Program, append([]string{"-listen=127.0.0.1:0"}, words...)...)
	program.Env = probetest.PatientEnv()
	read, write := io.Pipe()
	program.Stdout, program.Stderr = write, write
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = program.Wait() // how it ended is in the state
		write.Close()
	}()
	var answer, log string
	for lines := bufio.NewScanner(read); lines.Scan(); {
		log += lines.Text() + "\n"
		if rest, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
			addr, _, _ := strings.Cut(rest, ",")
			answer = getFrom(t, "127.0.0.2", "http://"+addr+"/healthz")
			if err := program.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
		}
	}
	return program.ProcessState.String() + "\n" + port.ReplaceAllString(log, ":PORT, asking") + answer
}

// getFrom gets a page from an address of this machine, and returns its status and text, or that there is none.
func getFrom(t *testing.T, from, url string) string {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c := http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
	response, err := c.Get(url)
	if err != nil {
		return "no answer\n"
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return response.Status + "\n" + string(text)
}
