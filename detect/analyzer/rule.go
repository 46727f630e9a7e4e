package analyzer

import (
	"path"
	"regexp"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// Rule is one row of a language's table: a pattern of code, and the finding that it is.
type Rule struct {
	// Code is matched against the code, in which the contents of strings are blank. The group "literal", if it has one,
	// takes the blank contents of a string, and Literal is matched against what really stands there. The group "port"
	// takes an address or a port, in a string or as code. The group "at" is the place that the finding names; without
	// it that is the whole match.
	Code    *regexp.Regexp
	Literal *regexp.Regexp
	// Imports is matched against each import of the file: one has to match. nil for a rule that needs no import.
	Imports *regexp.Regexp
	// Finding is the finding, without its line and excerpt.
	Finding Finding
}

// Match returns the findings of the rules in a text, in the order of the rules, then of lines. imports are the file's,
// as its language writes them.
func Match(text *source.Text, rules []Rule, imports []string) []Finding {
	var found []Finding
	for _, r := range rules {
		if r.Imports != nil && !slices.ContainsFunc(imports, r.Imports.MatchString) {
			continue
		}
		if r.Literal != nil && !text.Mentions(r.Literal) {
			continue
		}
		for _, m := range text.FindAll(r.Code, -1) {
			if f, ok := r.finding(text, m); ok {
				found = append(found, f)
			}
		}
	}
	return found
}

func (r Rule) finding(text *source.Text, match []int) (Finding, bool) {
	if s, ok := text.Group(r.Code, match, "literal"); ok && r.Literal != nil && !r.Literal.MatchString(s) {
		return Finding{}, false
	}
	at := match[:2]
	if i := r.Code.SubexpIndex("at"); i > 0 && match[2*i] >= 0 {
		at = match[2*i : 2*i+2]
	}
	if r.Finding.Kind == Listener {
		found := r.Finding.At(text.Line(at[0]), "")
		port, _ := text.Group(r.Code, match, "port")
		found.Port = source.ParsePort(port)
		return found, true
	}
	return r.Finding.At(text.Line(at[0]), source.Excerpt(text.Raw[at[0]:at[1]])), true
}

// SourceFiles returns the Analyze of a language all of whose required files are sources, which analyze reads, and
// manifests, whose folders are projects. The names of manifests are patterns of [path.Match], such as "*.cabal".
func SourceFiles(
	analyze func(text []byte) *Result[struct{}], manifests ...string,
) func(f *tree.File) (*Result[struct{}], error) {
	return func(f *tree.File) (*Result[struct{}], error) {
		name := path.Base(f.Path)
		if slices.ContainsFunc(manifests, func(m string) bool { ok, _ := path.Match(m, name); return ok }) {
			return &Result[struct{}]{ProjectRoot: true}, nil
		}
		text, err := f.Text()
		if err != nil {
			return nil, err
		}
		return analyze(text), nil
	}
}
