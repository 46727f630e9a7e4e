//go:build linux

package discover_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// A debug container shares the network and the processes of the app's container, and has a control group of its own: it
// lists all sockets, and the note says that a command has the debug container's path of the probe.
func TestDiscoverInADebugContainer(t *testing.T) {
	t.Parallel()
	for _, other := range []string{"", "net=unix-abstract:debugged"} {
		t.Run(other, func(t *testing.T) {
			t.Parallel()
			p := newPod(t)
			app := p.start(traits{group: newGroup(t), unified: true})
			debug := p.start(traits{group: newGroup(t), unified: true, processes: app})
			all := []string{
				app.launch(serving(appUser)).said, app.launch(serving(appUser, strings.Fields(other)...)).said,
			}
			r := debug.run(probeIn(otherUser, "-discover"))
			var report struct {
				Sockets []struct {
					Address, Own   string
					ReadinessProbe struct{ Exec struct{ Command []string } }
				}
				Note string
			}
			if err := json.Unmarshal([]byte(r.Output), &report); err != nil {
				t.Fatalf("%v: %s", err, r.Output)
			}
			for _, s := range report.Sockets {
				command := s.ReadinessProbe.Exec.Command
				if s.Own != "unknown" || len(command) != 2 || command[1] != "-addr="+s.Address {
					t.Errorf("of %s it says %+v", s.Address, s)
				}
				all = slices.DeleteFunc(all, func(address string) bool { return address == s.Address })
			}
			const path = "a command has this container's path of the probe"
			if len(all) > 0 || !strings.Contains(report.Note, "whose these sockets are") ||
				!strings.Contains(report.Note, path) {
				t.Errorf("it leaves out %q, or the note is wrong: %s", all, r.Output)
			}
		})
	}
}
