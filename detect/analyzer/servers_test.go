package analyzer

import (
	"fmt"
	"strings"
	"testing"

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
	servedBy    = finding.Serves
)

func inMain(at *finding.Site, _ string) finding.Finding {
	return finding.Server{Site: at, Framework: "f", InMain: true}
}

func health(at *finding.Site, _ string) finding.Finding { return finding.Health{Site: at} }

func noHealth(at *finding.Site, _ string) finding.Finding { return finding.HealthDisabled{Site: at} }

func portAt(port int, at plan.Place) plan.Address {
	return plan.Address{Port: port, Place: at, Certainty: plan.Written}
}

func listener(port int) finding.Make {
	return func(at *finding.Site, _ string) finding.Finding {
		return finding.Listens(portAt(port, at.Place), "")
	}
}

func secures(transport plan.Transport) finding.Make {
	return func(at *finding.Site, _ string) finding.Finding {
		return finding.Security{Site: at, Says: plan.Security{Transport: transport}}
	}
}

var secured = secures(plan.TLS)

// own returns a file with servers each of which has a port and a transport of its own.
func own(path string, transports ...plan.Transport) File[struct{}] {
	var findings []finding.Finding
	for i, transport := range transports {
		at := finding.AtPlace(plan.Place{Path: path, Line: i + 1}, "")
		findings = append(findings, finding.Server{Site: at, Framework: "f"},
			finding.Listener{Site: at, Address: portAt(i+1, at.Place), Of: at},
			finding.Security{Site: at, Says: plan.Security{Transport: transport}, Of: at})
	}
	return File[struct{}]{path, Result[struct{}]{Findings: findings}}
}

// Each case is the files of an app, in the order of their paths, and what is said of its servers.
var apps = map[string]struct {
	files []File[struct{}]
	want  string
}{
	"a server": {[]File[struct{}]{file("main", constructed)}, "main:1 missing"},
	"registrations imply one server": {
		[]File[struct{}]{file("a", registered), file("b", registered)}, "a:1 missing TLS or plaintext not known",
	},
	"a server is stronger than registrations": {
		[]File[struct{}]{file("a", registered), file("b", constructed)}, "b:1 missing",
	},
	"an implementation alone is no server": {[]File[struct{}]{file("a", implemented)}, ""},
	"an implementation that a framework serves": {
		[]File[struct{}]{file("a", served), file("b", served)}, "a:1 missing",
	},
	"a registration is stronger than an implementation": {
		[]File[struct{}]{file("a", served), file("b", registered)}, "b:1 missing TLS or plaintext not known",
	},
	"main goes first in a package": {[]File[struct{}]{file("a", constructed, inMain)}, "a:2 missing"},
	"main goes first": {
		[]File[struct{}]{file("a", constructed), file("b", inMain)}, "b:1 missing, a:1 missing",
	},
	"health goes before a path": {
		[]File[struct{}]{file("a", constructed), file("b", constructed, health)}, "b:1 registered b:2, a:1 missing",
	},
	"of programs too": {
		[]File[struct{}]{file("a", inMain), file("b", inMain, health)}, "b:1 registered b:2, a:1 missing",
	},
	"a known port goes before a path": {
		[]File[struct{}]{file("a", constructed), file("b", constructed, listener(1))},
		"b:1 missing port 1 b:2, a:1 missing",
	},
	"examples go last": {
		[]File[struct{}]{file("examples/a/main", inMain), file("lib/b", constructed), file("tools/c", inMain)},
		"lib/b:1 missing, tools/c:1 missing, examples/a/main:1 missing",
	},
	"examples do not silence what is registered": {
		[]File[struct{}]{file("examples/a", inMain), file("lib/b", registered)},
		"lib/b:1 missing TLS or plaintext not known, examples/a:1 missing",
	},
	"tools do not silence what a framework serves": {
		[]File[struct{}]{file("src/service", served), file("tools/load", constructed)},
		"src/service:1 missing, tools/load:1 missing",
	},
	"an app of examples alone": {
		[]File[struct{}]{file("examples/a", registered), file("examples/b", constructed)}, "examples/b:1 missing",
	},
	"examples have no weaker servers beside an app": {
		[]File[struct{}]{file("examples/a", registered), file("main", constructed)}, "main:1 missing",
	},
	"examples lend nothing to an app": {
		[]File[struct{}]{file("examples/a", health, listener(1), secured), file("main", constructed)}, "main:1 missing",
	},
	"examples share with each other": {
		[]File[struct{}]{file("examples/lib/a", health), file("examples/b/main", constructed)},
		"examples/b/main:1 registered examples/lib/a:1",
	},
	"a framework's server beside a construction of another one": {
		[]File[struct{}]{file("a", constructed), file("b", servedBy("g")), file("c", servedBy("g"))},
		"a:1 missing, b:1 missing",
	},
	"a framework's server that is constructed": {
		[]File[struct{}]{file("a", constructed), file("b", served)}, "a:1 missing",
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
	"servers with listeners of their own": {
		[]File[struct{}]{own("a", plan.Plaintext, plan.TLS)},
		"a:1 missing port 1 a:1, a:2 missing port 2 a:2 TLS",
	},
	"security in settings": {
		[]File[struct{}]{file("a", constructed), file("s", secured)},
		"a:1 missing TLS",
	},
	"two securities": {
		[]File[struct{}]{file("a", constructed, secured, secures(plan.Plaintext))},
		"a:1 missing TLS or plaintext not known",
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
			for i := range servers {
				Language{}.complete(&servers[i])
			}
			plan.Sort(servers)
			var got []string
			for _, s := range servers {
				line := strings.TrimSpace(fmt.Sprintf("%s %s %s", s.Evidence, s.Health, s.HealthEvidence))
				if s.Address != (plan.Address{}) {
					line += fmt.Sprintf(" %s %s", s.Address, s.Address.Place)
				}
				if s.Security.Transport != plan.Plaintext {
					line += fmt.Sprintf(" %s", s.Security)
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
