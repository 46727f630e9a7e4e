package analyzer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// file returns a file with findings, each on a line of its own.
func file(path string, findings ...Finding) File[struct{}] {
	for i := range findings {
		findings[i].Path, findings[i].Line = path, i+1
	}
	return File[struct{}]{path, Result[struct{}]{Findings: findings}}
}

var (
	constructed = Finding{Kind: ServerConstructed, Framework: "f"}
	inMain      = Finding{Kind: ServerConstructed, Framework: "f", InMain: true}
	registered  = Finding{Kind: ServiceRegistered, Framework: "f"}
	implemented = Finding{Kind: ServiceImplemented, Framework: "f"}
	served      = Finding{Kind: ServiceImplemented, Framework: "f", FrameworkServes: true}
	automatic   = Finding{Kind: ServerConstructed, Framework: "f", AutomaticHealth: true}
	health      = Finding{Kind: HealthRegistered}
	noHealth    = Finding{Kind: HealthDisabled}
)

func listener(port int) Finding { return Finding{Kind: Listener, Port: port} }

// Each case is the files of an app, in the order of their paths, and what is said of its servers.
var apps = map[string]struct {
	files []File[struct{}]
	want  string
}{
	"a server": {[]File[struct{}]{file("main", constructed)}, "main:1 missing"},
	"registrations imply one server": {
		[]File[struct{}]{file("a", registered), file("b", registered)}, "a:1 missing",
	},
	"a server is stronger than registrations": {
		[]File[struct{}]{file("a", registered), file("b", constructed)}, "b:1 missing",
	},
	"an implementation alone is no server": {[]File[struct{}]{file("a", implemented)}, ""},
	"an implementation that a framework serves": {
		[]File[struct{}]{file("a", served), file("b", served)}, "a:1 missing",
	},
	"a registration is stronger than an implementation": {
		[]File[struct{}]{file("a", served), file("b", registered)}, "b:1 missing",
	},
	"main goes first": {
		[]File[struct{}]{file("a", constructed), file("b", inMain)}, "b:1 missing, a:1 missing",
	},
	"health in the same file": {[]File[struct{}]{file("a", constructed, health)}, "a:1 registered a:2"},
	"health in a library": {
		[]File[struct{}]{file("lib/h", health), file("main", constructed)},
		"main:1 registered lib/h:1",
	},
	"health by the framework":   {[]File[struct{}]{file("a", automatic)}, "a:1 automatic a:1"},
	"health that is turned off": {[]File[struct{}]{file("a", automatic), file("settings", noHealth)}, "a:1 missing"},
	"health beside another server": {
		[]File[struct{}]{file("a", constructed), file("b", constructed, health)}, "b:1 registered b:2, a:1 missing",
	},
	"health in the folder of another server": {
		[]File[struct{}]{file("a/main", constructed), file("b/health", health), file("b/main", constructed)},
		"b/main:1 registered b/health:1, a/main:1 missing",
	},
	"a port": {[]File[struct{}]{file("a", constructed, listener(1))}, "a:1 missing port 1 a:2"},
	"a port that is twice": {
		[]File[struct{}]{file("a", constructed, listener(1), listener(1))},
		"a:1 missing port 1 a:2",
	},
	"two ports": {[]File[struct{}]{file("a", constructed, listener(1), listener(2))}, "a:1 missing"},
	"an unknown port": {
		[]File[struct{}]{file("a", constructed, listener(1), listener(address.UnknownPort))},
		"a:1 missing",
	},
	"a port in settings": {
		[]File[struct{}]{file("a", constructed), file("s", listener(1))},
		"a:1 missing port 1 s:1",
	},
	"settings of which one": {
		[]File[struct{}]{file("a", constructed), file("b", constructed), file("s", listener(1))},
		"a:1 missing, b:1 missing",
	},
}

func TestServices(t *testing.T) {
	t.Parallel()
	for name, app := range apps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := Servers(Projects(app.files, FileIsPackage), func(string, ...any) {})
			plan.Sort(servers)
			var got []string
			for _, s := range servers {
				line := strings.TrimSpace(fmt.Sprintf("%s %s %s", s.Evidence, s.Health, s.HealthEvidence))
				if s.Port != 0 {
					line += fmt.Sprintf(" port %d %s", s.Port, s.PortEvidence)
				}
				got = append(got, line)
			}
			if got := strings.Join(got, ", "); got != app.want {
				t.Errorf("servers %q, want %q", got, app.want)
			}
		})
	}
}

// What is below one manifest says nothing of what is below another.
func TestProjectsEndAtManifests(t *testing.T) {
	t.Parallel()
	root := func(path string) File[struct{}] {
		return File[struct{}]{path, Result[struct{}]{ProjectRoot: true}}
	}
	all := Projects([]File[struct{}]{
		root("a/go.mod"), file("a/main", constructed), root("b/go.mod"), file("b/sub/health", health),
		file("main", constructed),
	}, FileIsPackage)
	var dirs []string
	for _, p := range all {
		dirs = append(dirs, p.Dir)
	}
	if got := strings.Join(dirs, " "); got != ". a b" {
		t.Errorf("projects %q", got)
	}
	for _, s := range Servers(all, func(string, ...any) {}) {
		if s.Health != plan.HealthMissing {
			t.Errorf("the server at %s has the health service of another project", s.Evidence)
		}
	}
}

func TestResolveReplacesAndLeavesOut(t *testing.T) {
	t.Parallel()
	all := Projects([]File[struct{}]{file("a", registered, health, noHealth)}, FileIsPackage)
	all[0].Resolve(func(_ *Package, f Finding) (Finding, bool) {
		if f.Kind == ServiceRegistered {
			f.Kind = ServerConstructed
		}
		return f, f.Kind != HealthDisabled
	})
	if p := all[0]; !p.Has(ServerConstructed) || p.Has(ServiceRegistered, HealthDisabled) || !p.Has(HealthRegistered) {
		t.Errorf("findings %+v", p.Packages[0].Findings)
	}
}
