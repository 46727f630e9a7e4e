package analyzer

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// settingsName is the name of a file of settings, and settingsFolder that of a folder of them. Other files are data.
var (
	settingsName = lazyregexp.New(
		`(?i)conf|cfg|setting|server|service|grpc|app|env|option|param|propert|constant|default|prod|dev|main`)
	settingsFolder = lazyregexp.New(`(?i)conf|cfg|setting|env`)
)

// IsSettingsFile reports whether sources may read settings from a file by its path.
func IsSettingsFile(file string) bool {
	return address.IsSettingsFile(file) &&
		(settingsName.MatchString(path.Base(file)) || settingsFolder.MatchString(path.Base(path.Dir(file))))
}

// maxSettings is how many settings of one file are kept.
const maxSettings = 200

// portKey is the key of a port.
var portKey = lazyregexp.New(`(?i)port[^.]*$`)

// ReadSetting returns what a language makes of a setting and its value, and the names by which it knows it.
type ReadSetting func(s untrusted.Setting, v address.Value) (address.Value, []string)

// Settings returns the result of a file of settings, which sources read by its path and by keys: its addresses and
// hosts, and its ports without a number. The function may be nil. The error is about the file.
func Settings[T any](file string, text []byte, read ReadSetting) (*Result[T], error) {
	documents, err := untrusted.ReadSettings(file, text)
	declared := []address.Declaration{{}}
	for _, s := range slices.Concat(documents...) {
		v := address.Setting(address.TrimScheme(s.Value), s.Line)
		if v.Certainty == address.Unknown {
			v.Host = address.HostIn(s.Value)
		}
		var all []string
		if read != nil {
			v, all = read(s, v)
		}
		if v.Certainty != address.Unknown || v.Host != address.UnknownHost || portKey.MatchString(s.Key) {
			all = append(all, s.Key)
		}
		for _, name := range all {
			if len(declared) < maxSettings {
				declared = append(declared, address.Declaration{Name: name, Value: v})
			}
		}
	}
	return &Result[T]{Declares: declared}, err
}
