package analyzertest

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// proofs are the facts about a language's frameworks that its apps prove.
type proofs struct {
	ports    map[string]bool // by framework and number
	keywords map[string]bool
	health   map[string]bool // by framework
	listens  map[string]bool // by framework, and by the start of archive names
}

// server notes the facts that a server of an app proves.
func (p proofs) server(s plan.Server, archive *txtar.Archive, name string) {
	p.port(s, archive)
	p.health[s.Framework] = p.health[s.Framework] || s.HasHealth()
	if s.Address.IsKnown() {
		framework, _, _ := strings.Cut(name, "_")
		p.listens[s.Framework], p.listens[framework] = true, true
	}
}

// port notes the port of a server if no file of the app has the port: the framework sets the port by default.
func (p proofs) port(s plan.Server, archive *txtar.Archive) {
	number := strconv.Itoa(s.Address.Port)
	for _, f := range archive.Files {
		if bytes.Contains(f.Data, []byte(number)) {
			return
		}
	}
	p.ports[s.Framework+" "+number] = true
}

// keywordsIn notes each keyword without which a source with findings would not be read: the source has no other keyword
// of the language.
func keywordsIn[T any](p proofs, d analyzer.Definition[T], archive *txtar.Archive) {
	for _, f := range archive.Files {
		if !d.Required(f.Name) {
			continue
		}
		result, err := d.Analyze(tree.NewText(f.Name, f.Data))
		if err != nil || result == nil || len(result.Findings) == 0 {
			continue
		}
		only := ""
		for _, framework := range d.Frameworks {
			for _, word := range framework.Keywords {
				switch {
				case word == only || !bytes.Contains(f.Data, []byte(word)):
				case only != "":
					only = "several"
				default:
					only = word
				}
			}
		}
		p.keywords[only] = true
	}
}

// check fails for a default port, an address, a keyword or a health registration of a framework without proof in an app
// of the language.
func (p proofs) check(t *testing.T, f analyzer.Framework) {
	t.Helper()
	number := strconv.Itoa(f.Port.Number)
	if f.Port.Number != 0 && (!p.ports[f.Name+" "+number] || f.Port.Source == "") {
		t.Errorf("%s: no app in testdata/apps has its default port %s without writing it, or the entry names no source",
			f.Name, number)
	}
	if slug := nameInPaths(f.Name); !p.listens[f.Name] && !p.listens[slug] {
		t.Errorf("%s: no app in testdata/apps has a server of it whose address is known, nor has %s_*.txtar, for "+
			"services that other frameworks serve", f.Name, slug)
	}
	if !p.health[f.Name] && !strings.HasPrefix(f.Health, analyzer.Nobody) {
		t.Errorf("%s: no app in testdata/apps registers the health service with it, or its Health should begin with %q",
			f.Name, analyzer.Nobody)
	}
	for _, word := range f.Keywords {
		if !p.keywords[word] {
			t.Errorf("%s: no source in testdata/apps is read because of its keyword %q alone: add one, or leave the "+
				"keyword out if it contains one of another framework", f.Name, word)
		}
	}
}
