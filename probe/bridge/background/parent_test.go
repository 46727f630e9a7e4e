package background

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An app that waits until it has no children ends as it does without a bridge, and the log says why the bridge ends
// too.
func TestAppThatWaitsForAllChildren(t *testing.T) {
	t.Parallel()
	for name, app := range map[string]struct{ needs, script string }{
		"wait":        {"perl", `exec perl -e 'for(1..3){my $p=fork; if(!$p){exit 0}} 1 while wait()!=-1'`},
		"waitpid(-1)": {"perl", `exec perl -e 'if(!fork){exit 0} sleep 2; 1 while waitpid(-1,0)>0'`},
		"waitpid(0)":  {"perl", `exec perl -e 'if(!fork){sleep 3; exit 0} 1 while waitpid(0,0)>0; 1 while wait()>0'`},
		"os.wait": {"python3", `exec python3 -c '
import os
try:
	while True: os.wait()
except ChildProcessError: pass'`},
		"C":     {"cc", `exec "$1/waits"`},
		"shell": {"sh", `sleep 0.1 & wait`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(app.needs); err != nil {
				t.Skip(err)
			}
			folder := t.TempDir()
			if app.needs == "cc" {
				compile := exec.Command("cc", "-x", "c", "-o", filepath.Join(folder, "waits"), "-")
				compile.Stdin = strings.NewReader(waitsInC)
				if out, err := compile.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			_, starter := program(t)
			script := "export " + strings.Join(anyPort, " ") + `; "$0"; ` + app.script
			c := startContainer(t, "/bin/sh", "-c", script, starter, folder)
			select {
			case <-c.ended:
			case <-time.After(time.Minute):
				t.Fatalf("the app does not end; the log: %s", c.logged())
			}
			const left = Prefix + "the app waits until it has no children: the bridge ends\n"
			if isLeft := strings.Contains(c.logged(), left); isLeft != (name != "shell") {
				t.Errorf("the log is %s", c.logged())
			}
		})
	}
}

// waitsInC waits until there are no children, and ends with another code if it waits for nothing.
const waitsInC = `#include <sys/wait.h>
#include <unistd.h>
int main(void) {
	siginfo_t info;
	if (fork() == 0) return 0;
	while (waitid(P_ALL, 0, &info, WEXITED) == 0) {}
	return 0;
}`

// A bridge stays beside an app that waits for another child, or that does not wait.
func TestAppThatDoesNotWaitForTheBridge(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		script, sleeps string
		want           bool
	}{
		"waits for the bridge":      {`1 while wait()!=-1`, "do_wait", true},
		"waits for another child":   {`if(!fork){sleep 60; exit} wait; wait`, "do_wait", false},
		"does not wait for a child": {`sleep 60`, "nanosleep", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			app := exec.Command("perl", "-e", `if(!fork){exec @ARGV} `+c.script, self, lookingRole, c.sleeps)
			app.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			out, err := app.StdoutPipe()
			if err == nil {
				err = app.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			var got bool
			if _, err := fmt.Fscan(out, &got); err != nil || got != c.want {
				t.Errorf("the app waits for the bridge: %v (%v), want %v", got, err, c.want)
			}
			_ = syscall.Kill(-app.Process.Pid, syscall.SIGKILL) // it may have ended
			_ = app.Wait()
		})
	}
}
