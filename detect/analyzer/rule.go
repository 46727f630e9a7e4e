package analyzer

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Rule is one row of a language's table: a pattern of code, and the finding for a match.
type Rule struct {
	// Code is matched against the code, in which the contents of strings are blank. A group "literal" takes the blank
	// contents of a string; Literal is then matched against the real contents. A group "at" is the place of the
	// finding; without the group, the whole match is. Alternatives may each have a group "at".
	Code    *lazyregexp.Regexp
	Literal *lazyregexp.Regexp
	// Imports must match an import of the file. nil for a rule without an import.
	Imports *lazyregexp.Regexp
	// Proves makes the finding.
	Proves finding.Make
}

// Findings returns the findings of the rules in a text, in the order of the rules, then of lines. imports are the
// file's imports, as written in the language.
func Findings(text *source.Text, rules []Rule, imports []string) []finding.Finding {
	var found []finding.Finding
	statuses := 0
	for _, r := range rules {
		for _, m := range r.matches(text, imports) {
			at := r.at(m)
			f := r.Proves(finding.At(text, at), string(text.Raw[at.From:at.To]))
			if s, ok := f.(finding.HealthStatus); ok && statuses < maxStatuses {
				f = withConstant(text, s)
				statuses++
			}
			if f != nil {
				found = append(found, f)
			}
		}
	}
	return found
}

// Listens returns a listener for each match of a pattern with a group "port". The group takes an address or a port, in
// a string or as code.
func Listens(text *source.Text, code *lazyregexp.Regexp) []finding.Finding {
	var found []finding.Finding
	for _, m := range text.FindAll(code, -1) {
		written, _ := text.Group(code, m, "port")
		found = append(found, finding.Listens(address.Setting(written, text.Line(m[0])), ""))
	}
	return found
}

// matches returns the matches of Code, if Imports matches, without matches whose literal does not match Literal.
func (r Rule) matches(text *source.Text, imports []string) [][]int {
	if r.Imports != nil && !slices.ContainsFunc(imports, r.Imports.MatchString) ||
		r.Literal != nil && !text.Mentions(r.Literal) {
		return nil
	}
	return slices.DeleteFunc(text.FindAll(r.Code, -1), func(m []int) bool {
		s, ok := text.Group(r.Code, m, "literal")
		return ok && r.Literal != nil && !r.Literal.MatchString(s)
	})
}

// at returns the part of a match in the group "at", or the whole match.
func (r Rule) at(match []int) source.Span {
	for i, group := range r.Code.SubexpNames() {
		if group == "at" && match[2*i] >= 0 {
			return source.Span{From: match[2*i], To: match[2*i+1]}
		}
	}
	return source.Span{From: match[0], To: match[1]}
}

// SourceFiles returns the Analyze of a language that requires only sources and manifests. analyze reads the sources,
// and the folder of a manifest is a project. manifests are patterns of [path.Match], such as "*.cabal".
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
