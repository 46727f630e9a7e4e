package elixir

import (
	"path"
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Extra is what a file says beside its findings.
type Extra struct {
	// Settings are the ports in a configuration file, by key: app.grpc_port, app.grpc.port, app.App.Endpoint.port. The
	// value is that of the last statement.
	Settings map[string]setting
	// Asked are the keys of the settings that the listeners among the findings ask for, in their order; "" where one
	// asks for none.
	Asked []string
}

// setting is the port that a setting has, and the line of the number.
type setting struct{ port, line int }

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

// readSettings returns the ports in a configuration file.
func readSettings(t *source.Text) map[string]setting {
	r := &settingsReader{address.Read(t, "\n", declarations...), map[string]setting{}, 0}
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
	settings map[string]setting
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
	port := r.Port(at)
	r.settings[key] = setting{port.Number, r.Line(port.At)}
}

var (
	// appSetting asks for a setting: Application.get_env(:app, :grpc_port), also of a key within its value.
	appSetting = regexp.MustCompile(`\bApplication\.(?:get_env|fetch_env!|compile_env!?)\(\s*:(?P<name>\w+)\s*,\s*:?` +
		`(?P<key>[\w.]+)[^()]*\)(?:\s*(?:\|>\s*Keyword\.(?:get|fetch!)\(\s*|\[)\s*:(?P<part>\w+))?`)
	// wholeName is an expression that is a name alone: of a variable, of a function without arguments, or of an
	// attribute.
	wholeName = source.Exactly(`@?\w+(?:\(\))?`)
)

// askedSetting returns the key of the setting that an expression asks for, by itself or by what its name is declared
// with; "" where it asks for none.
func askedSetting(t *source.Text, at source.Span) string {
	at = t.Trim(at)
	name := strings.TrimSuffix(t.Slice(at), "()")
	isName := wholeName.MatchString(t.Slice(at))
	for _, m := range t.FindAll(appSetting, maxSettings) {
		asks := at.From <= m[0] && m[1] <= at.To+1
		if isName {
			before := strings.TrimRight(string(t.Code[max(0, m[0]-maxKey):m[0]]), " \n\t")
			asks = declares(before, name)
		}
		if !asks {
			continue
		}
		app, _ := t.Group(appSetting, m, "name")
		key, _ := t.Group(appSetting, m, "key")
		if part, ok := t.Group(appSetting, m, "part"); ok {
			key += "." + part
		}
		return app + "." + key
	}
	return ""
}

// declares reports whether code ends with what declares a name, up to its value: name =, @name, def name, do:.
func declares(before, name string) bool {
	line := strings.TrimSpace(before[strings.LastIndexByte(before, '\n')+1:])
	for _, prefix := range []string{"defp ", "def "} {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			rest = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(rest, name), "()"))
			return strings.HasPrefix(line, prefix+name) && (rest == "do" || rest == ", do:")
		}
	}
	return line == name+" =" || line == name
}

// resolveSettings states the ports of the listeners that ask for a setting. The configuration of a release is read in
// the order of the files: config.exs, then prod.exs, then runtime.exs. What a later one sets counts.
func resolveSettings(files []analyzer.File[Extra]) {
	type stated struct {
		setting
		path string
	}
	settings := map[string]stated{}
	for _, name := range []string{"config.exs", "prod.exs", "runtime.exs"} {
		for _, f := range files {
			if path.Base(f.Path) != name {
				continue
			}
			for key, s := range f.Extra.Settings {
				settings[key] = stated{s, f.Path}
			}
		}
	}
	for _, f := range files {
		listener := 0
		for i := range f.Findings {
			if f.Findings[i].Kind != analyzer.Listener {
				continue
			}
			if s, ok := settings[f.Extra.Asked[listener]]; ok {
				f.Findings[i].Port, f.Findings[i].Place = s.port, plan.Place{Path: s.path, Line: s.line}
			}
			listener++
		}
	}
}
