package cluster

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

// callerRole is that of a program which starts a cluster and waits for its end, in its first argument.
const callerRole = "cluster-caller"

// startAndWait is the program: it prints the folder of the cluster.
func startAndWait(bin, logs string) error {
	c, err := Start(context.Background(), bin, logs)
	if err != nil {
		return err
	}
	fmt.Println(c.folder)
	<-c.ended
	return c.err
}

// TestNothingIsLeftOfACluster kills the program that started a cluster, which has no say in that. The rules of
// iptables, the interfaces and the images go with the namespaces, which the kernel removes once no process and no mount
// has them.
func TestNothingIsLeftOfACluster(t *testing.T) {
	t.Parallel()
	caller := exec.Command("/proc/self/exe", callerRole, cluster.bin, t.TempDir())
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
	poll(t, "the cluster's processes, mounts, cgroup and folder to be gone", func(context.Context) (bool, error) {
		for _, path := range append(groups, folder) {
			if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
				return false, fmt.Errorf("%q is there (%v)", path, err) //nolint:errorlint // it may be nil
			}
		}
		running, err := processesOf(folder)
		mounts, notRead := os.ReadFile("/proc/self/mountinfo")
		mounted := strings.Contains(string(mounts), folder)
		return err == nil && notRead == nil && len(running) == 0 && !mounted,
			errors.Join(err, notRead, fmt.Errorf("mounted: %t, running: %q", mounted, running))
	})
}

// processesOf are the command lines of the processes that name a folder, as those of a cluster do.
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
