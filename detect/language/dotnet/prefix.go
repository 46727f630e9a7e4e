package dotnet

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Settings that a program takes from environment variables with a prefix have keys without it:
// AddEnvironmentVariables("SHOP_") makes configuration["PORT"] of $SHOP_PORT. Hosts add all variables by themselves
// (Microsoft.Extensions.Configuration.EnvironmentVariables, EnvironmentVariablesConfigurationProvider).

var (
	environmentAdded = lazyregexp.New(
		`\bAddEnvironmentVariables\s*\(\s*(?:prefix\s*:\s*)?(?:"(?P<prefix>[ ]+)"|(?P<other>[^\s)"]))?`)
	hostBuilt     = lazyregexp.New(`\bCreate(?:Default|Slim|Application)?Builder\s*[(<]`)
	variableAsked = lazyregexp.New(`\bGetEnvironmentVariable\s*\(\s*"(?P<name>[ ]+)"`)
)

// environment is what a source says of environment variables.
type environment struct {
	prefixes []string // "" for one that is no literal
	isWhole  bool     // settings come from all variables
	asked    []string // the variables that are asked for by their own names
}

// environmentIn returns what a source says of environment variables, nil if it says nothing.
func environmentIn(t *source.Text) *environment {
	e := environment{isWhole: t.Matches(hostBuilt), asked: t.Names(variableAsked)}
	for _, m := range t.FindAll(environmentAdded, address.MaxListeners) {
		prefix, isPrefix := t.Group(environmentAdded, m, "prefix")
		_, isOther := t.Group(environmentAdded, m, "other")
		if isPrefix || isOther {
			e.prefixes = append(e.prefixes, prefix)
		}
		e.isWhole = e.isWhole || !isPrefix && !isOther
	}
	if !e.isWhole && len(e.prefixes)+len(e.asked) == 0 {
		return nil
	}
	return &e
}

// prefixVariables names the variables of a project's settings with their prefix, if all of them have it. If there are
// several prefixes, it is not known which variables go before defaults.
func prefixVariables(p *project, libraries []*project) {
	var all environment
	asked := map[string][]string{} // by the paths of sources
	for _, of := range append(slices.Clip(libraries), p) {
		for _, f := range of.Files {
			if e := f.Extra.environment; e != nil {
				all.isWhole = all.isWhole || e.isWhole
				all.prefixes = append(all.prefixes, e.prefixes...)
				asked[f.Path] = e.asked
			}
		}
	}
	if all.isWhole || len(all.prefixes) == 0 {
		return
	}
	isKnown := len(all.prefixes) == 1 && all.prefixes[0] != ""
	prefixed := func(file string, v address.Value) address.Value {
		isAsked := func(variable string) bool { return slices.Contains(asked[file], variable) }
		if !isKnown && v.Variable != "" && !isAsked(v.Variable) {
			return unknownAt(v)
		}
		return v.Renamed(func(variable string) string {
			if isAsked(variable) {
				return variable
			}
			return all.prefixes[0] + variable
		})
	}
	for i, f := range p.Files {
		f.Declares = slices.Clone(f.Declares)
		for j, d := range f.Declares {
			f.Declares[j].Value = prefixed(f.Path, d.Value)
		}
		p.Files[i] = f
	}
	p.Decide(func(_ *analyzer.Package, f finding.Finding) []finding.Finding {
		switch of := f.(type) {
		case endpoint:
			of.address = prefixed(of.Path, of.address)
			f = of
		case finding.Listener:
			of.Address = prefixed(of.Path, of.Address)
			f = of
		}
		return []finding.Finding{f}
	})
}
