package analyzer

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// assignedName matches the name on the left side of an assignment.
var assignedName = lazyregexp.New(`([\w$@]+)\s*(?::\s*[\w.<>?\[\]]+\s*)?(?::?=|<-)[^=]`)

// builder matches the object before a method that makes a server, such as a builder.
var builder = lazyregexp.New(`([\w$@]+)\s*(?:\.|->)\s*$`)

// Associate returns the findings of a text with several servers, each finding with the site of its server. Listeners,
// health services and credentials belong to a server if the statement has the server, the server's name or the name of
// the builder, or if the function around makes this server alone. If only some of the servers are made under a
// condition, the servers may be alternatives, and the findings stay unchanged.
func Associate(t *source.Text, found []finding.Finding) []finding.Finding {
	var servers []associated
	for s := range finding.All[finding.Server](found) {
		if at := finding.Offset(s); at > 0 && len(servers) <= maxListeners {
			servers = append(servers, associated{Server: s, line: t.LogicalLine(at)})
		}
	}
	if len(servers) < 2 || len(servers) > maxListeners {
		return found
	}
	blocks := source.FindBlocks(t)
	for i, s := range servers {
		servers[i].function = blocks.Function(t, s.line)
		code := t.LineCode(s.line)
		if m := assignedName.FindSubmatch(code[:min(len(code), maxStatement)]); m != nil {
			servers[i].name = string(m[1])
		}
		before := t.Code[max(t.LineStart(s.line), finding.Offset(s.Server)-maxBuilder):finding.Offset(s.Server)]
		if m := builder.FindSubmatch(before); m != nil {
			servers[i].builder = string(m[1])
		}
	}
	if areAlternatives(t, blocks, servers) {
		return found
	}
	isTold := map[*finding.Site]bool{} // the servers with listeners of their own
	for i, f := range found {
		at := finding.Offset(f)
		if at == 0 {
			continue
		}
		line := t.LogicalLine(at)
		of := serverOf(t, blocks, servers, line)
		if isMade := finding.Is[finding.Health](f) || finding.Is[finding.HealthMade](f); isMade && of == nil {
			of = userOf(t, blocks, servers, line)
		}
		found[i] = saidOf(f, of)
		if finding.Is[finding.Listener](f) && of != nil {
			isTold[of] = true
		}
	}
	found = withoutMakings(found)
	for i, f := range found {
		if h, ok := f.(finding.Health); ok && h.Of == nil && len(isTold) > 1 { // a server may have no health service
			found[i] = finding.AsUnsure(f)
		}
	}
	return found
}

// saidOf returns a finding with the site of its server.
func saidOf(f finding.Finding, of *finding.Site) finding.Finding {
	switch f := f.(type) {
	case finding.Listener:
		f.Of = of
		return f
	case finding.Health:
		f.Of = of
		return f
	case finding.HealthMade:
		f.Of = of
		return f
	case finding.Security:
		f.Of = of
		return f
	}
	return f
}

// areAlternatives reports whether a server is made under a condition that covers no server on another line.
func areAlternatives(t *source.Text, blocks *source.Blocks, servers []associated) bool {
	for i, s := range servers {
		var others []int
		for j, other := range servers {
			if i != j && other.line != s.line {
				others = append(others, other.line)
			}
		}
		if c := (conditions{t, blocks, others}); c.isUnder(s.line) {
			return true
		}
	}
	return false
}

// withoutMakings leaves out the health services without a server if any health service has a server: findings without a
// server are constructions of the same service.
func withoutMakings(found []finding.Finding) []finding.Finding {
	isOf := func(f finding.Finding) bool { h, ok := f.(finding.Health); return ok && h.Of != nil }
	if !slices.ContainsFunc(found, isOf) {
		return found
	}
	return slices.DeleteFunc(found, func(f finding.Finding) bool { return finding.Is[finding.Health](f) && !isOf(f) })
}

// associated is a server with the index of its line, the head of its function, the server's name, and the name of the
// object that makes the server.
type associated struct {
	finding.Server
	line, function int
	name, builder  string
}

// maxBuilder is the number of bytes before a server that may name its builder.
const maxBuilder = 100

// maxStatement is the number of bytes of a line that are searched for names.
const maxStatement = 4000

// serverOf returns the site of the server that a line belongs to, nil if unknown.
func serverOf(t *source.Text, blocks *source.Blocks, servers []associated, line int) *finding.Site {
	function := blocks.Function(t, line)
	code := t.LineCode(line)
	code = code[:min(len(code), maxStatement)]
	has := func(name string) bool { return name != "" && source.HasWord(code, strings.TrimLeft(name, "$@")) }
	var inFunction, named, built []*finding.Site
	for _, s := range servers {
		switch {
		case s.line == line:
			return s.Site
		case s.function == function:
			inFunction = append(inFunction, s.Site)
			if has(s.name) {
				named = append(named, s.Site)
			}
			if has(s.builder) {
				built = append(built, s.Site)
			}
		}
	}
	switch {
	case len(inFunction) == 1:
		return inFunction[0]
	case len(named) == 1:
		return named[0]
	case len(named) == 0 && len(built) == 1:
		return built[0]
	}
	return nil
}

// userOf returns the site of the only server whose line names an object made on the given line, nil for no server or
// several.
func userOf(t *source.Text, blocks *source.Blocks, servers []associated, line int) *finding.Site {
	beginOf := func(line int) []byte {
		code := t.LineCode(line)
		return code[:min(len(code), maxStatement)]
	}
	var user *finding.Site
	for _, names := range madeFor.FindAllSubmatch(beginOf(line), 1) {
		for _, s := range servers {
			code := beginOf(s.line)
			isNamed := func(name []byte) bool { return len(name) > 0 && source.HasWord(code, string(name)) }
			if !isNamed(names[1]) && !isNamed(names[2]) || s.function != blocks.Function(t, line) {
				continue
			}
			if user != nil {
				return nil
			}
			user = s.Site
		}
	}
	return user
}
