package node

import (
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// key returns the port of a setting that is asked for by a string, wherever the app states it: in the namespace of a
// registerAs of NestJS, in the object that a module of settings exports, in a schema of the environment, or in a file
// of settings. The innermost folder around the file that has the key is asked alone.
func (m *modules) key(file, key string, depth int) stated {
	found := stated{}
	all := m.keyed()[key]
	for dir := range tree.Ancestors(file) {
		isOutside := func(k keyedSetting) bool { return dir != "." && !strings.HasPrefix(k.file.Path, dir+"/") }
		if inside := slices.DeleteFunc(slices.Clone(all), isOutside); len(inside) > 0 {
			all = inside
			break
		}
	}
	for _, k := range all {
		of := m.port(k.file, k.setting, depth+1)
		if of.port == address.UnknownPort || found.port != 0 && found.port != of.port {
			return stated{port: address.UnknownPort}
		}
		found = of
	}
	return found
}

// keyedSetting is a setting that has a key, and its file.
type keyedSetting struct {
	file    *analyzer.File[extra]
	setting setting
}

// maxOfKey is how many settings of one key are looked at.
const maxOfKey = 32

// keyed returns the settings of all files by their keys.
func (m *modules) keyed() map[string][]keyedSetting {
	if m.keys != nil {
		return m.keys
	}
	m.keys = map[string][]keyedSetting{}
	for i := range m.all {
		f := &m.all[i]
		for name, s := range f.Extra.settings {
			if key := keyOf(name); key != "" && len(m.keys[key]) < maxOfKey {
				m.keys[key] = append(m.keys[key], keyedSetting{f, s})
			}
		}
	}
	return m.keys
}

var (
	// settingsObject is the name of a variable that holds all settings of an app.
	settingsObject = regexp.MustCompile(`^(?:default|namespace|(?i:(?:app)?(?:config|configuration|settings)))$`)
	variableKey    = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
)

// keyOf returns the key by which a setting may be asked for, or "": its path in an object of settings, or the name of
// an environment variable, whatever schema has it.
func keyOf(name string) string {
	object, key, _ := strings.Cut(name, ".")
	if settingsObject.MatchString(object) {
		return key
	}
	if last := name[strings.LastIndexByte(name, '.')+1:]; last != name && variableKey.MatchString(last) {
		return last
	}
	return ""
}
