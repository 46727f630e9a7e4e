package jvm

import (
	"errors"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/jvm/hocon"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

var (
	documentSeparator = lazyregexp.New(`^[#!]?---`)
	property          = lazyregexp.New(`^\s*([\w.%"\[\]-]+)\s*[=:]\s*(.*?)\s*$`)
)

// parseSettings reads a settings file of any format.
func parseSettings(file string, text []byte) (fileSettings, error) {
	switch path.Ext(file) {
	case ".properties":
		return parseProperties(file, text), nil
	case ".conf":
		return parseHOCON(file, text)
	case ".groovy":
		return fileSettings{name: file, always: settings{unread: true}}, errGroovy
	}
	return parseDocuments(file, text)
}

// parseProperties reads a .properties file. It leaves out the further lines of values that have several.
func parseProperties(file string, text []byte) fileSettings {
	s := fileSettings{name: file}
	var document settings
	n := 0
	for line := range strings.Lines(string(source.TrimBOM(text))) {
		n++
		if documentSeparator.MatchString(line) {
			s.addDocument(document)
			document = settings{}
		} else if m := property.FindStringSubmatch(line); m != nil {
			document.set(m[1], m[2], plan.Place{Path: file, Line: n})
		}
	}
	s.addDocument(document)
	return s
}

// errGroovy says that settings are a program.
var errGroovy = errors.New("settings in Groovy are not read")

// parseDocuments reads a file of YAML, JSON or TOML. If it cannot be read to its end, the settings before come with the
// error.
func parseDocuments(file string, text []byte) (fileSettings, error) {
	documents, err := untrusted.ReadSettings(file, text)
	s := fileSettings{name: file, always: settings{unread: err != nil}}
	for _, d := range documents {
		var document settings
		for _, of := range d {
			document.set(of.Key, of.Value, plan.Place{Path: file, Line: of.Line})
		}
		s.addDocument(document)
	}
	return s, err
}

// parseHOCON reads an application.conf. If it cannot be read to its end, the settings before come with the error. A
// value that is optional leaves the one before it in force: ${?PORT}.
func parseHOCON(file string, text []byte) (fileSettings, error) {
	found, err := hocon.Read(text)
	s := fileSettings{name: file, always: settings{unread: err != nil}}
	for _, of := range found {
		at := plan.Place{Path: file, Line: of.Line}
		if of.Key == "" {
			s.includes = append(s.includes, include{confName(of.Value), slices.Sorted(maps.Keys(s.always.values))})
			continue
		}
		if m := optional.FindStringSubmatch(of.Value); m != nil {
			s.always.setVariable(of.Key, m[1], at)
		} else {
			s.always.set(of.Key, of.Value, at)
		}
	}
	return s, err
}

// optional is a value that holds if it is set: ${?PORT}.
var optional = source.Exactly(`\$\{\?([A-Z][A-Z0-9_]*)\}`)

// setVariable says that an environment variable replaces the value of a key, which may have none yet.
func (s *settings) setVariable(key, variable string, at plan.Place) {
	m := relevantKey.FindStringSubmatch(normalize(key))
	if m == nil {
		return
	}
	if s.values == nil {
		s.values = map[string]setting{}
	}
	of, ok := s.values[m[2]]
	if !ok {
		of.text, of.Place = "${"+variable+"}", at
	}
	of.variable = variable
	s.values[m[2]] = of
}
