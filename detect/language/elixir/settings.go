package elixir

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// configCall is a statement of a configuration file, up to its values: config :app, or config :app, Key.
	configCall = lazyregexp.New(`(?m)^\s*config[\s(]+:(?P<name>\w+)\s*,\s*(?::(?P<key>\w+)\s*,\s*|` +
		`(?P<module>[A-Z][\w.]*)\s*,\s*)?`)
	// putCall is a call that sets what a configuration file sets, when the app runs.
	putCall = lazyregexp.New(`\bApplication\.put_env\(\s*:(?P<name>\w+)\s*,\s*` +
		`(?::(?P<key>\w+)|(?P<module>[A-Z][\w.]*))\s*,\s*`)
	// pair is a key of a keyword list or a map.
	pair = lazyregexp.New(`^\s*:?(\w+)(?:"?:|\s*=>)\s+`)
)

// maxSettings is how many settings of one file are read, and maxNesting how deep lists in lists.
const (
	maxSettings = 1000
	maxNesting  = 6
)

// readSettings returns the addresses in a configuration file, by key: app.grpc_port, app.grpc.port,
// app.App.Endpoint.port; and those that it sets on a condition.
func readSettings(t *source.Text) ([]address.Declaration, map[string]bool) {
	r := &settingsReader{Names: namesIn(t)}
	maySet := map[string]bool{}
	for _, m := range t.FindAll(configCall, maxSettings) {
		inProduction, isSure := r.inProduction(m[2])
		if !inProduction {
			continue
		}
		before := len(r.settings)
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
		for _, d := range r.settings[before:] {
			maySet[d.Name] = !isSure
		}
	}
	return r.settings, maySet
}

// readPuts returns the addresses that a source sets when the app runs, by key as [readSettings] does. A configuration
// file may say something else: then it is not known which is in force when the server starts.
func readPuts(t *source.Text) []address.Declaration {
	if !t.Matches(putCall) {
		return nil
	}
	r := &settingsReader{Names: namesIn(t)}
	for _, m := range t.FindAll(putCall, maxSettings) {
		app, _ := t.Group(putCall, m, "name")
		key, isKey := t.Group(putCall, m, "key")
		if !isKey {
			key, _ = t.Group(putCall, m, "module")
		}
		if key = app + "." + key; pair.Match(t.Code[m[1]:min(len(t.Code), m[1]+maxKey)]) {
			r.pairs(key, m[1], 0)
		} else {
			r.value(key, m[1], t.Until(m[1], ",\n"), 0)
		}
	}
	return r.settings
}

// environmentTest asks for the environment that a release is built for.
var environmentTest = lazyregexp.New(`\b(?:config_env|Mix\.env)\(\)\s*(?P<operator>[!=]=)\s*:(?P<name>\w+)$`)

// inProduction reports whether the code at an offset may run in a release for production, and whether it surely does.
func (r *settingsReader) inProduction(at int) (may, sure bool) {
	sure = true
	for _, c := range r.Conditions(at, 0) {
		m := environmentTest.FindStringSubmatch(strings.TrimSuffix(r.Slice(c.Span), " do"))
		switch {
		case m == nil:
			sure = false
		case (m[2] == "prod") != (m[1] == "==") != c.Negated:
			return false, false
		}
	}
	return true, sure
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
func inForce(files []analyzer.File[extra]) []analyzer.File[extra] {
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
				set[d.Name] = set[d.Name] || !f.Extra.maySet[d.Name]
			}
		}
	}
	return files
}
