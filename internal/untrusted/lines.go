package untrusted

import (
	"bytes"
	"path"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// table matches the head of a table in TOML, and assignment a line with a setting in TOML or in a file .env.
	table = lazyregexp.New(`^\[+([^\[\]]+)\]+\s*(?:[#;].*)?$`)
	// There is no match if an array or a table of TOML goes on in the next line.
	assignment = lazyregexp.New(
		`^(?:export\s+)?([A-Za-z_][\w.-]*)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^#\s]*[^#\s\[{,]|))\s*(?:#.*)?$`)
	// inlineTable matches a table of TOML on a single line, without a table within, and inlineSetting a setting within.
	inlineTable = lazyregexp.New(
		`^([A-Za-z_][\w.-]*)\s*=\s*\{((?:\s*[A-Za-z_][\w.-]*\s*=\s*` + inlineValue + `\s*,?)+)\s*\}\s*(?:#.*)?$`)
	inlineSetting = lazyregexp.New(`([A-Za-z_][\w.-]*)\s*=\s*` + inlineValue)
)

// inlineValue matches a text or another scalar in an inline table.
const inlineValue = `(?:"([^"]*)"|'([^']*)'|([^\s,"'{}\[\]#]+))`

// ReadSettings returns the settings in a file of TOML, of NAME=value lines (.env), or of YAML, JSON included. TOML and
// NAME=value lines are read by [ReadLines].
func ReadSettings(file string, text []byte) ([]Document, error) {
	switch path.Ext(file) {
	case ".toml", ".env", ".ini", ".cfg", ".conf":
		return []Document{ReadLines(text)}, nil
	}
	return ReadYAML(text)
}

// ReadLines returns the settings on separate lines, NAME=value, also in the tables of TOML, and the settings of TOML's
// inline tables on a single line. The log names the lines of values: neither the decoder of [DecodeTOML] nor decoders
// for .env and INI return lines.
func ReadLines(text []byte) Document {
	var settings Document
	within, line := "", 0
	for l := range bytes.Lines(text) {
		line++
		l = bytes.TrimSpace(l)
		if m := table.FindSubmatch(l); m != nil {
			within = string(bytes.TrimSpace(m[1])) + "."
		} else if m := inlineTable.FindSubmatch(l); m != nil {
			for _, of := range inlineSetting.FindAllSubmatch(m[2], maxSettings-len(settings)) {
				key, value := within+string(m[1])+"."+string(of[1]), string(of[2])+string(of[3])+string(of[4])
				settings = append(settings, Setting{Key: key, Value: value, Line: line})
			}
		} else if m := assignment.FindSubmatch(l); m != nil && len(settings) < maxSettings {
			value := string(m[2]) + string(m[3]) + string(m[4])
			settings = append(settings, Setting{Key: within + string(m[1]), Value: value, Line: line})
		}
	}
	return settings
}
