package kubelet

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// callerRole is that of a program which starts a node and waits for its end, in its first argument.
const callerRole = "node-caller"

// call is the program: it prints the folder of the node.
func call(kubelet, logs string) error {
	n, err := Start(context.Background(), kubelet, logs)
	if err != nil {
		return err
	}
	fmt.Println(n.folder)
	<-n.ended
	return n.err
}

// TestNothingIsLeftOfANode kills the program that started a node, which has no say in that.
func TestNothingIsLeftOfANode(t *testing.T) {
	t.Parallel()
	caller := exec.Command("/proc/self/exe", callerRole, kubeletProgram, t.TempDir())
	caller.Stderr = os.Stderr
	out, err := caller.StdoutPipe()
	if err == nil {
		err = caller.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err := errors.Join(err, caller.Process.Kill()); err != nil {
		t.Fatal(err)
	}
	caller.Wait()
	folder := strings.TrimSpace(line)
	groups, err := findGroups(filepath.Base(folder))
	if err != nil {
		t.Fatal(err)
	}
	poll(t, "the node's processes, cgroup and folder to be gone", func(context.Context) (bool, error) {
		for _, path := range append(groups, folder) {
			if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
				return false, fmt.Errorf("%q is there (%v)", path, err)
			}
		}
		running, err := processesOf(folder)
		return len(running) == 0, errors.Join(err, fmt.Errorf("%q are running", running))
	})
}

// processesOf are the command lines of the processes that name a folder, as those of a node do.
func processesOf(folder string) ([]string, error) {
	var found []string
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil && strings.Contains(string(text), folder) {
			found = append(found, strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return found, err
}
