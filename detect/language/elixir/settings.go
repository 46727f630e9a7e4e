package elixir

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	// configCall is a statement of a configuration file, up to its values: config :app, or config :app, Key.
	configCall = regexp.MustCompile(`(?m)^\s*config[\s(]+:(?P<name>\w+)\s*,\s*(?::(?P<key>\w+)\s*,\s*|` +
		`(?P<module>[A-Z][\w.]*)\s*,\s*)?`)
	// pair is a key of a keyword list or a map.
	pair = regexp.MustCompile(`^\s*:?(\w+)(?:"?:|\s*=>)\s+`)
)

// maxSettings is how many settings of one file are read, and maxNesting how deep lists in lists.
const (
	maxSettings = 1000
	maxNesting  = 6
)

// readSettings returns the addresses in a configuration file, by key: app.grpc_port, app.grpc.port,
// app.App.Endpoint.port.
func readSettings(t *source.Text) []address.Declaration {
	r := &settingsReader{Names: namesIn(t)}
	for _, m := range t.FindAll(configCall, maxSettings) {
		app, _ := t.Group(configCall, m, "name")
		key, isKey := t.Group(configCall, m, "key")
		module, isModule := t.Group(configCall, m, "module")
		switch {
		case isKey:
			r.value(app+"."+key, m[1], t.Until(m[1], "\n"), 0)
		case isModule:
			r.pairs(app+"."+module, m[1], 0)
		default:
			r.pairs(app, m[1], 0)
		}
	}
	return r.settings
}

type settingsReader struct {
	*address.Names
	settings []address.Declaration
	read     int
}

// pairs reads the pairs of a list that begin at an offset.
func (r *settingsReader) pairs(key string, from, nesting int) {
	for r.read++; r.read < maxSettings && nesting < maxNesting; r.read++ {
		m := pair.FindSubmatchIndex(r.Code[from:min(len(r.Code), from+maxKey)])
		if m == nil {
			return
		}
		name := string(r.Code[from+m[2] : from+m[3]])
		from += m[1]
		end := r.Until(from, ",\n")
		r.value(key+"."+name, from, end, nesting)
		if end >= len(r.Code) || r.Code[end] != ',' {
			return
		}
		from = end + 1
	}
}

// maxKey is how many bytes a key has, with the white space before it.
const maxKey = 200

// value reads the value of a key: a list of pairs, or an expression.
func (r *settingsReader) value(key string, from, to, nesting int) {
	at := r.Trim(source.Span{From: from, To: to})
	if code := r.Slice(at); strings.HasPrefix(code, "[") {
		r.pairs(key, at.From+1, nesting+1)
		return
	} else if strings.HasPrefix(code, "%{") {
		r.pairs(key, at.From+2, nesting+1)
		return
	}
	r.settings = append(r.settings, r.Declaration(address.Key(key), at))
}

// inForce returns the files with the settings that count: the configuration of a release is read in the order
// config.exs, prod.exs, runtime.exs, each from its first line to its last, and what is set last counts.
func inForce(files []analyzer.File[struct{}]) []analyzer.File[struct{}] {
	files = slices.Clone(files)
	set := map[string]bool{}
	for _, name := range []string{"runtime.exs", "prod.exs", "config.exs"} {
		for i, f := range slices.Backward(files) {
			if path.Base(f.Path) != name {
				continue
			}
			files[i].Declares = nil
			for _, d := range slices.Backward(f.Declares) {
				if !set[d.Name] {
					files[i].Declares = append(files[i].Declares, d)
				}
				set[d.Name] = true
			}
		}
	}
	return files
}
