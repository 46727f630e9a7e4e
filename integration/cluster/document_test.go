package cluster

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kballard/go-shellquote"

	"github.com/grpc-cnb/health-probe/integration/documents"
)

const repository = "../.."

// elsewhere are command lines of the document that make another cluster than this one, and bring the image into it.
var elsewhere = []string{
	"docker tag my-app registry.example.com/my-app:1.0.0",
	"kind create cluster",
	"kind load docker-image registry.example.com/my-app:1.0.0",
	"kind delete cluster",
}

// TestWalkThrough runs all command lines of docs/kubernetes.md, in their order. Those with jq are run by
// TestProbeOfAnImage of package integration, those for my-pod by the tests of -discover.
func TestWalkThrough(t *testing.T) {
	t.Parallel()
	document, err := documents.Read(repository + "/docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	s := newSpace(t)
	n := 0
	for _, block := range document.Blocks {
		if block.Info != "sh" {
			continue
		}
		for _, line := range block.Commands() {
			isOther := strings.Contains(line, "| jq ") || strings.Contains(line, " my-pod ")
			if !isOther && !slices.Contains(elsewhere, line) {
				s.runLine(line)
				n++
			}
		}
	}
	if n < 8 {
		t.Errorf("only %d command lines were found", n)
	}
	var list struct{ Items []Pod }
	poll(t, "nothing to be left", func(ctx context.Context) (bool, error) {
		err := s.read(ctx, "pods", &list)
		return err == nil && len(list.Items) == 0, err
	})
}

// runLine runs a command line of kubectl as a reader would, except the namespace.
func (s space) runLine(line string) {
	s.t.Helper()
	words, err := shellquote.Split(line)
	if err != nil || words[0] != "kubectl" {
		s.t.Fatalf("%q is not a command line of kubectl (%v)", line, err)
	}
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	cmd := cluster.Command(ctx, "kubectl", append([]string{"--namespace=" + s.name}, words[1:]...)...)
	cmd.Dir = repository
	var out output
	if strings.HasSuffix(line, " -watch") { // it ends when the reader presses Ctrl-C, which is after its first word
		out.stop, out.word = cancel, "SERVING"
	}
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 10 * time.Second
	err = cluster.Launch(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	s.t.Logf("$ %s\n%s", line, out.text.String())
	if err != nil && !out.stopped {
		s.t.Fatalf("%s: %v", line, err)
	}
}

// output is what a command prints. It calls stop when a word is in it.
type output struct {
	text    bytes.Buffer
	stop    func()
	word    string
	stopped bool
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.text.Write(p)
	if o.stop != nil && strings.Contains(o.text.String(), o.word) {
		o.stopped = true
		o.stop()
	}
	return n, err
}
