package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// settingsFile is the name of a file of settings that programs import, or that the package config reads
// (config/default.json).
var settingsFile = regexp.MustCompile(`^(?:default|[\w.-]*(?:config|settings|constants))\.json$`)

// yamlSettings is the path of a file of settings that the package config reads.
var yamlSettings = regexp.MustCompile(`(?:^|/)config/default\.ya?ml$`)

// analyzeYAML returns the settings in a file of them. The error is about the YAML.
func analyzeYAML(text []byte) (*analyzer.Result[extra], error) {
	documents, err := untrusted.ReadYAML(text)
	found := settings{}
	for _, document := range documents {
		for _, s := range document {
			if port := address.ParsePort(s.Value); port != address.UnknownPort && len(found) < maxSettings {
				found["default."+s.Key] = setting{port: port, line: s.Line}
			}
		}
	}
	if len(found) == 0 {
		return nil, err
	}
	return &analyzer.Result[extra]{Extra: extra{settings: found}}, err
}

// analyzeJSON returns the settings in a file of them.
func analyzeJSON(text []byte) (*analyzer.Result[extra], error) {
	if len(text) > maxModule || !bytes.Contains(bytes.ToLower(text), []byte("port")) {
		return nil, nil
	}
	d := &jsonReader{Decoder: json.NewDecoder(bytes.NewReader(text)), text: text, found: settings{}}
	d.UseNumber()
	if err := d.value("default", 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading settings: %w", err)
	}
	if len(d.found) == 0 {
		return nil, nil
	}
	return &analyzer.Result[extra]{Extra: extra{settings: d.found}}, nil
}

// jsonReader collects the ports in a JSON text. It reads token by token, so that no more than one value is in memory.
type jsonReader struct {
	*json.Decoder
	text  []byte
	found settings
}

// errNested is about a text that is nested deeper than any file of settings.
var errNested = errors.New("its objects are nested too deeply")

// value reads a value, whose path is path.
func (d *jsonReader) value(path string, depth int) error {
	if depth > 2*maxNesting {
		return errNested
	}
	token, err := d.Token()
	if err != nil {
		return err //nolint:wrapcheck // the caller says what was read
	}
	switch t := token.(type) {
	case json.Delim:
		for d.More() {
			name := path
			if t == '{' {
				key, err := d.Token()
				if err != nil {
					return err //nolint:wrapcheck // the caller says what was read
				}
				name = path + "." + fmt.Sprint(key)
			}
			if err := d.value(name, depth+1); err != nil {
				return err
			}
		}
		_, err = d.Token()
		return err //nolint:wrapcheck // the caller says what was read
	case json.Number:
		d.add(path, t.String())
	case string:
		d.add(path, t)
	}
	return nil
}

// add adds the port that a value states, if it does.
func (d *jsonReader) add(path, value string) {
	port := address.ParsePort(strings.TrimPrefix(strings.TrimPrefix(value, "http://"), "https://"))
	if port != address.UnknownPort && len(d.found) < maxSettings {
		line := 1 + bytes.Count(d.text[:d.InputOffset()], []byte("\n"))
		d.found[path] = setting{port: port, line: line}
	}
}
