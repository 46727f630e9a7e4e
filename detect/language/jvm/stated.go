package jvm

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// statedPort is what a source states, and where.
type statedPort struct {
	port   int
	prefix string
	plan.Place
}

// maxStated is how many names with ports are looked at for one project.
const maxStated = 20_000

// statedPorts are the ports that the sources of some projects state, by name. A name with several ports has none that
// is known.
type statedPorts map[string]statedPort

// add adds those of a project.
func (s statedPorts) add(p *project) {
	for _, f := range p.Files {
		if len(s) > maxStated {
			return
		}
		for name, in := range f.Extra.ports {
			place := plan.Place{Path: f.Path, Line: in.line}
			if before, ok := s[name]; ok && (before.port != in.port || before.prefix != in.prefix) {
				in.port, in.prefix = address.UnknownPort, ""
			}
			s[name] = statedPort{in.port, in.prefix, place}
		}
	}
}

// stated returns what the sources of a project and of those around it state: the projects that it is built with, and
// those that are built with it.
func (m *modules) stated(p *project) statedPorts {
	all := statedPorts{}
	all.add(p)
	for _, needed := range m.needed(p) {
		all.add(needed)
	}
	for _, user := range m.users[p] {
		all.add(user)
	}
	return all
}

// setting returns the value of a key in the settings files of frameworks, or in those of the app's own.
func (b *build) setting(key string) (setting, bool) {
	if value, ok := b.settings.resolved(key); ok {
		return value, ok
	}
	return b.ownSettings.resolved(key)
}

// resolvePort returns a listener with the port that its references give: a setting has precedence over the default
// that the source states, and everything else stands where the source states none.
func (b *build) resolvePort(f analyzer.Finding, stated func() statedPorts) analyzer.Finding {
	references := strings.Fields(f.ImportPath)
	f.ImportPath = ""
	var ofFiles statedPorts
	if len(references) > 0 && f.Port == address.UnknownPort {
		ofFiles = stated()
	}
	var found []statedPort
	for _, reference := range references {
		if s, ok := b.statedBy(reference, ofFiles); ok {
			found = append(found, s)
		}
	}
	for i, s := range found {
		if i > 0 && s.port != f.Port {
			f.Port = address.UnknownPort
			return f
		}
		f.Port, f.Place = s.port, s.Place
	}
	return f
}

// statedBy returns the port that a reference stands for.
func (b *build) statedBy(reference string, ofFiles statedPorts) (s statedPort, ok bool) {
	if key, isKey := strings.CutPrefix(reference, keyReference); isKey {
		value, ok := b.setting(normalize(key))
		return statedPort{port: address.ParsePort(value.text), Place: value.Place}, ok
	}
	class, field, isField := strings.Cut(reference, ".")
	if strings.HasPrefix(reference, "@") && isField {
		prefix := ofFiles[class].prefix
		if prefix == "" {
			return statedPort{}, false
		}
		if value, ok := b.setting(normalize(prefix + "." + field)); ok {
			return statedPort{port: address.ParsePort(value.text), Place: value.Place}, true
		}
		reference = reference[1:]
	}
	s, ok = ofFiles[reference]
	return s, ok
}
