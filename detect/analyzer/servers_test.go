package analyzer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// file returns a file with findings, each on a line of its own.
func file(path string, proves ...finding.Make) File[struct{}] {
	var findings []finding.Finding
	for i, prove := range proves {
		findings = append(findings, prove(finding.AtPlace(plan.Place{Path: path, Line: i + 1}, ""), ""))
	}
	return File[struct{}]{path, Result[struct{}]{Findings: findings}}
}

var (
	constructed = finding.Constructs("f")
	registered  = finding.Registers("f")
	implemented = finding.Implements("f")
	served      = finding.Serves("f")
	automatic   = finding.WithHealth(constructed)
)

func inMain(at *finding.Site, _ string) finding.Finding {
	return finding.Server{Site: at, Framework: "f", InMain: true}
}

func health(at *finding.Site, _ string) finding.Finding { return finding.Health{Site: at} }

func noHealth(at *finding.Site, _ string) finding.Finding { return finding.HealthDisabled{Site: at} }

func listener(port int) finding.Make {
	return func(at *finding.Site, _ string) finding.Finding {
		return finding.ListenerAt(address.Value{Address: address.At(port, at.Place)})
	}
}

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
		[]File[struct{}]{file("a", constructed, listener(1), listener(0))},
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

func TestDecideReplacesAndLeavesOut(t *testing.T) {
	t.Parallel()
	all := Projects([]File[struct{}]{file("a", registered, health, noHealth)}, FileIsPackage)
	p := all[0]
	p.Decide(func(_ *Package, f finding.Finding) []finding.Finding {
		switch f := f.(type) {
		case finding.Registration:
			return []finding.Finding{finding.Server{Site: f.Site, Framework: f.Framework}}
		case finding.HealthDisabled:
			return nil
		}
		return []finding.Finding{f}
	})
	if !ProjectHas[finding.Server](p) || ProjectHas[finding.Registration](p) ||
		ProjectHas[finding.HealthDisabled](p) || !ProjectHas[finding.Health](p) {
		t.Errorf("findings %+v", p.Packages[0].Findings)
	}
}
