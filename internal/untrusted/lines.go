package untrusted

import (
	"bytes"
	"path"
	"regexp"
)

var (
	// table is the head of a table in TOML, and assignment a line with a setting in TOML or in a file .env.
	table      = regexp.MustCompile(`^\s*\[+([^\[\]]+)\]`)
	assignment = regexp.MustCompile(
		`^\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^#\s]*))\s*(?:#.*)?$`)
)

// ReadSettings returns the settings in a file of TOML, of NAME=value lines (.env), or of YAML, which JSON is too. Of
// the first two it reads what stands on a line of its own.
func ReadSettings(file string, text []byte) ([]Document, error) {
	switch path.Ext(file) {
	case ".toml", ".env":
		return []Document{ReadLines(text)}, nil
	}
	return ReadYAML(text)
}

// ReadLines returns the settings that stand on lines of their own: NAME=value, also in the tables of TOML.
func ReadLines(text []byte) Document {
	var settings Document
	within, line := "", 0
	for l := range bytes.Lines(text) {
		line++
		if m := table.FindSubmatch(l); m != nil {
			within = string(bytes.TrimSpace(m[1])) + "."
		} else if m := assignment.FindSubmatch(bytes.TrimSpace(l)); m != nil && len(settings) < maxSettings {
			value := string(m[2]) + string(m[3]) + string(m[4])
			settings = append(settings, Setting{Key: within + string(m[1]), Value: value, Line: line})
		}
	}
	return settings
}
