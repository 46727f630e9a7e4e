package python

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	variablePrefix    = lazyregexp.New(`\benv_prefix["']?\s*[=:]\s*(?:["'](\w*)["'])?`)
	variableDelimiter = lazyregexp.New(`\benv_nested_delimiter["']?\s*[=:]\s*["'](\w+)["']`)
	caseSensitive     = lazyregexp.New(`\bcase_sensitive["']?\s*[=:]\s*True\b`)
	// settingsAlias is the name of the environment variable of one setting, without the prefix, if there is one.
	settingsAlias = lazyregexp.New(`\b(?:env|alias|validation_alias)\s*=\s*(?:["'](\w+)["'])?`)
)

// pydanticSettings say which environment variables give the fields of a class of pydantic's settings
// (pydantic_settings/sources/providers/env.py).
type pydanticSettings struct {
	prefix          string
	isUnknown       bool   // the prefix is not known
	delimiter       string // between the name of a field and that of its part; "" if parts are not given
	isCaseSensitive bool
}

// settingsOf returns the settings that a class is, nil for one that is none. Those of the classes before it are known.
func settingsOf(t *source.Text, c *class, known map[string]*class) *pydanticSettings {
	var s *pydanticSettings
	for _, base := range c.bases {
		switch of := known[base]; {
		case of != nil && of.settings != nil:
			inherited := *of.settings
			s = &inherited
		case of != nil:
		case base == "BaseSettings":
			s = &pydanticSettings{}
		case strings.HasSuffix(base, "Settings"):
			s = &pydanticSettings{isUnknown: true}
		}
	}
	if s == nil {
		return nil
	}
	body := t.Raw[c.from:c.to]
	switch m := variablePrefix.FindAllSubmatch(body, 2); {
	case len(m) == 1 && m[0][1] != nil:
		s.prefix, s.isUnknown = string(m[0][1]), false
	case len(m) > 0:
		s.isUnknown = true
	}
	if m := variableDelimiter.FindSubmatch(body); m != nil {
		s.delimiter = string(m[1])
	}
	s.isCaseSensitive = s.isCaseSensitive || caseSensitive.Match(body)
	return s
}

// nameOf returns the environment variable of a field, by its text, whose name other names stand before; "" if it is not
// known. Where case does not matter, people write it in upper case.
func (s *pydanticSettings) nameOf(before, field string, text []byte) string {
	name := s.prefix + before + field
	if alias := settingsAlias.FindSubmatch(text); alias != nil && before == "" {
		name = string(alias[1])
	} else if s.isUnknown {
		return ""
	}
	if s.isCaseSensitive {
		return name
	}
	return strings.ToUpper(name)
}
