package jvm

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// loadsProperties is a call that fills properties, and propertyRead one that asks for one of them and has a
	// default.
	loadsProperties = lazyregexp.New(`\b\w*(?i:prop\w*|config|settings)\s*\.\s*load\s*\(`)
	propertyRead    = lazyregexp.New(`\b(?P<object>\w+)\s*\.\s*getProperty\s*\(\s*"(?P<key>[ ]+)"\s*,`)
	propertiesFile  = source.Exactly(`(?:[\w./-]*/)?([\w.-]+\.properties)`)
)

// properties are what a source reads from files of properties.
type properties struct {
	files []string // their names that it has
	keys  []string // those that it has defaults for
}

// properties returns what the source reads from files of properties, nothing if it loads none.
func (n *names) properties() properties {
	var p properties
	if !n.text.Matches(loadsProperties) {
		return p
	}
	for _, m := range anyLiteral.FindAllIndex(n.text.Code, maxValues) {
		file := propertiesFile.FindStringSubmatch(strings.Trim(string(n.text.Raw[m[0]:m[1]]), `"`))
		if file != nil && len(p.files) < maxMembers {
			p.files = append(p.files, file[1])
		}
	}
	for _, m := range n.text.FindAll(propertyRead, maxMembers) {
		object, _ := n.text.Group(propertyRead, m, "object")
		if key, _ := n.text.Group(propertyRead, m, "key"); object != "System" {
			p.keys = append(p.keys, key)
		}
	}
	return p
}

// leaveProperties leaves out the values of properties, and their defaults, that files which are not in the project may
// have.
func (m *modules) leaveProperties(p *project, values map[string]setting) {
	read := map[string]bool{}
	for _, of := range append(m.around(p), p) {
		for _, name := range m.builds[of].settingsNames {
			read[name] = true
		}
	}
	for _, of := range append(m.around(p), p) {
		for _, f := range of.Files {
			of := f.Extra.properties
			isOther := func(name string) bool { return !read[name] }
			if len(of.files) > 0 && !slices.ContainsFunc(of.files, isOther) {
				continue
			}
			for _, key := range of.keys {
				values[normalize(key)] = setting{}
			}
		}
	}
}
