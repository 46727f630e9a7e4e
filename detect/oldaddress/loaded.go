package address

import (
	"bytes"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// loaded are the settings in a file, or a part of them, which a source asks for by keys.
type loaded struct {
	Name
	// isUnclear says that they are in a file which is not known, or that others replace them.
	isUnclear bool
	givers    []giver // what may name another file
}

const (
	// settingsModule begins the module of a name that is a key of the settings in a file, whose path follows, and
	// defaultSettings that of settings in a file unless the environment or the command line names another one.
	settingsModule  = "file:"
	defaultSettings = "default file:"
)

// isFile reports whether the name is that of settings in a file, and not of what another source has.
func (n Name) isFile() bool {
	_, ok := n.settingsFile()
	return ok
}

// settingsFile returns the path of the file whose settings have the name, and whether one has it.
func (n Name) settingsFile() (string, bool) {
	if file, ok := strings.CutPrefix(n.Module, settingsModule); ok {
		return file, true
	}
	return strings.CutPrefix(n.Module, defaultSettings)
}

var (
	// loads is a call, up to its argument, that returns the settings in a text or a file: json.load(f),
	// YAML.load_file 'a.yml', OmegaConf.load("a.yaml").
	loads = lazyregexp.New(`\b(?:(?:u|or|simple)?json|JSON|(?:js|ruamel_)?yaml|YAML(?:\([^()]*\))?|Psych|` +
		`toml\w*|tomli|TOML\w*|Tomlrb|OmegaConf)\.(?:safe_?|full_|unsafe_)?(?:[lL]oads?|load_file|parse)!?` +
		`(?:\(|[ \t]+)|\b(?:safe|full)_load\(`)
	// parser makes what reads files of sections, and readBy reads one.
	parser = lazyregexp.New(`^(?:configparser\.|ConfigParser\.)?(?:Raw|Safe)?ConfigParser\(`)
	readBy = lazyregexp.New(`\b(?P<name>\w+)\.read(?:_file)?\(`)
	// replacement follows the name of settings of which a part is set, or which get all of what others have, and
	// mergesInto goes before one.
	replacement = lazyregexp.New(`^(?:(?:\[[^\[\]\n]*\])+\s*(?:\|\|)?=[^=~>]|` +
		`(?:\.\w+)+\s*=[^=>]|\.(?:update|merge!|deep_merge!|setdefault|read_dict|set)\(|\s*\|=)`)
	mergesInto = lazyregexp.New(`\b(?:assign|merge|defaultsDeep)\(\s*$`)
	// wraps makes an object of settings whose attributes are their keys.
	wraps = lazyregexp.New(
		`^(?:\w+\.)?(?:munchify|Munch(?:\.fromDict)?|Box|DotMap|EasyDict|edict|OmegaConf\.create)\(`)
	// loadsAny is a call that returns settings of files and of the environment, by names of its own.
	loadsAny = lazyregexp.New(`^(?:dynaconf\.)?(?:Dynaconf|LazySettings)\(`)
	// callOfName is the call of a function of the source.
	callOfName = lazyregexp.New(`^(?:(?:self|cls|this|[A-Z]\w*)\.)?(?P<name>[A-Za-z_]\w*)(?:\.(?P<method>\w+))?\(`)
	// nothing is what a name has before it gets settings, and orNothing what it has if a file is empty.
	nothing   = lazyregexp.New(`^(?:None|nil|null|undefined|\{\s*\}|dict\(\))?$`)
	orNothing = lazyregexp.New(`^\s*(?:(?:\|\||\?\?|\bor\b)\s*(?:\{\s*\}|dict\(\)))?\s*;?\s*$`)
)

// maxLoaded is how many names and functions are followed from settings to the file that they are in.
const maxLoaded = 5

// LoadsSettings reports whether a source may load settings from a file.
func LoadsSettings(text []byte) bool { return mayLoad.In(text) }

var mayLoad = source.NewKeywords("json.load", "JSON.load", "JSON.parse", "yaml", "YAML", "toml", "TOML", "Tomlrb",
	"Psych", "OmegaConf", "Dynaconf(", "LazySettings(", "safe_load(", "full_load(", "ConfigParser(")

// IsLoaded reports whether a name, with its value in a span, has settings in a file.
func (d *Names) IsLoaded(name string, value source.Span) bool {
	return d.loadsSettings() && d.loadedIn(d.expression(value), name, maxLoaded) != nil
}

// LoadedByFunctions returns the declarations of the functions of the text that return settings in a file.
func (d *Names) LoadedByFunctions() []Declaration {
	var all []Declaration
	if !d.loadsSettings() {
		return nil
	}
	for _, f := range d.functions() {
		l := d.loadedByFunction(f.name, nil, maxLoaded)
		if l == nil {
			continue
		}
		v := Value{Names: []Name{l.Name}}
		for _, g := range l.givers {
			v.Givers = append(v.Givers, g.name)
		}
		if v.Place.Line = d.Line(f.body.From); l.isUnclear {
			v.Names = []Name{{Module: settingsModule}}
		}
		all = append(all, Declaration{Name: f.name + "()", Value: v})
	}
	return all
}

// settings follows what an expression reads from settings in files, and returns it without that, except for defaults.
func (e *evaluation) settings(x expression) expression {
	if !e.ReadsSettings || e.Imported == nil && !e.loadsSettings() {
		return x
	}
	isCopy, end := false, 0
	for _, m := range dottedName.FindAllIndex(x.code, maxDeclarations) {
		if m[0] < end || m[0] > 0 && x.code[m[0]-1] == '.' {
			continue
		}
		l, part := e.loadedAt(x, m[0], maxLoaded)
		if l == nil || part.isName && (l.Path == "" || !l.isFile()) ||
			!l.isFile() && len(Variables(x.raw[part.From:part.To])) > 0 {
			continue
		}
		u := Use{At: x.at, name: l.Name}
		if l.isUnclear {
			u.name = Name{Module: settingsModule}
		}
		end, e.unclear = part.To, e.unclear || l.isUnclear
		e.givers = append(e.givers, l.givers...)
		e.undeclared, e.before = append(e.undeclared, u), append(e.before, u)
		if !isCopy {
			x.code, isCopy = bytes.Clone(x.code), true
		}
		kept := bytes.Clone(x.code[part.other.From:part.other.To])
		source.Blank(x.code[m[0]:end])
		copy(x.code[part.other.From:], kept)
	}
	return x
}

// loadsSettings is [LoadsSettings] of the text, for which it is searched once.
func (d *Names) loadsSettings() bool {
	if d.loads == nil {
		loads := LoadsSettings(d.Raw)
		d.loads = &loads
	}
	return *d.loads
}

// reading is the part of an expression that reads settings.
type reading struct {
	source.Span
	isName bool // it is a name, which may have attributes
	// other is the default that it has, empty for none.
	other source.Span
}

// loadedAt returns the settings that an expression reads at an offset, nil for none.
func (d *Names) loadedAt(x expression, at, depth int) (*loaded, reading) {
	if d.leftLoaded--; d.leftLoaded < 0 || depth <= 0 {
		return nil, reading{}
	}
	l, to := d.loadedByCall(x, at, depth)
	isName := l == nil
	if isName {
		l, to = d.loadedByName(x, at, depth)
	}
	if l == nil {
		return nil, reading{}
	}
	c := chain{x: x, to: to, isFlat: l.Path == "" && isOfSections.MatchString(l.Module)}
	for c.link() {
		isName = isName && c.isAttribute
	}
	of := *l
	of.Path = strings.Trim(of.Path+"."+strings.Join(c.keys, "."), ".")
	of.isUnclear = of.isUnclear || c.isUnclear
	return &of, reading{source.Span{From: at, To: c.to}, isName, c.other}
}

// isOfSections matches the module of a file that has settings in sections, and no deeper ones.
var isOfSections = lazyregexp.New(`\.(?:ini|cfg|conf)$`)

// loadedByName returns the settings that a name stands for which is used at an offset, and where the name ends.
func (d *Names) loadedByName(x expression, at, depth int) (*loaded, int) {
	m := rootName.FindSubmatchIndex(x.code[at:])
	if m == nil {
		return nil, at
	}
	name := string(x.code[at+m[2] : at+m[3]])
	to := at + m[1]
	if of, isParameter := d.loadedByParameter(name, x.at, depth); isParameter {
		return of, to
	}
	values := d.visible(name, x.at)
	if values == nil && d.Imported != nil {
		return d.imported(x, at, to)
	}
	var one *loaded
	isUnclear := d.isReplaced(strings.TrimLeft(name, "@"))
	for _, v := range values {
		if v.at == x.at && len(v.code) == len(x.code) || nothing.Match(bytes.TrimSpace(v.code)) {
			continue
		}
		of := d.loadedIn(v, name, depth-1)
		isUnclear = isUnclear || of == nil || one != nil && one.Name != of.Name
		if of != nil {
			one = of
		}
	}
	if one != nil {
		one.isUnclear = one.isUnclear || isUnclear
	}
	return one, to
}

// rootName is the name that settings are asked by.
var rootName = lazyregexp.New(`^(?:(?:self|cls|this)\.|(?:[A-Z]\w*::)+)?(@{0,2}[A-Za-z_]\w*)`)

// imported returns what a name is imported as, and where it ends, with an attribute if it is that of a module.
func (d *Names) imported(x expression, at, to int) (*loaded, int) {
	dotted := dottedName.Find(x.code[at:])
	for _, name := range []string{string(x.code[at:to]), string(dotted)} {
		isCall := at+len(name) < len(x.code) && x.code[at+len(name)] == '('
		if isCall && !bytes.HasPrefix(x.code[at+len(name):], []byte("()")) {
			continue
		}
		if n := d.Imported(name); n.Module != "" && n.Path != "" {
			to = at + len(name)
			if isCall {
				n.Path, to = n.Path+"()", to+len("()")
			}
			return &loaded{Name: n}, to
		}
	}
	return nil, at
}

// loadedIn returns the settings that an expression is, which a name gets; nil for none.
func (d *Names) loadedIn(x expression, name string, depth int) *loaded {
	begin := len(x.code) - len(bytes.TrimLeft(x.code, " \t\n"))
	if m := awaits.FindIndex(x.code); m != nil {
		begin = m[1]
	}
	if parser.Match(x.code[begin:]) {
		return d.loadedByParser(name, depth)
	}
	l, part := d.loadedAt(x, begin, depth)
	switch {
	case l != nil && orNothing.Match(x.code[min(len(x.code), part.To):]):
		return l
	case l != nil && l.isFile() || loads.Match(x.code):
		return &loaded{isUnclear: true, Name: Name{Module: settingsModule}}
	}
	return nil
}

// awaits stands before a value: also the name that keeps it.
var awaits = lazyregexp.New(`^\s*(?:await\s+|@{1,2}\w+\s*\|\|=\s*)`)

// loadedByParser returns the settings that a parser of the name has, which reads one file.
func (d *Names) loadedByParser(name string, depth int) *loaded {
	var one *loaded
	for _, m := range d.FindAll(readBy, MaxListeners) {
		if of, _ := d.Group(readBy, m, "name"); of != strings.TrimLeft(name, "@") {
			continue
		}
		first, _ := d.Argument(m[1], 0, "filenames", "f")
		of := d.loadedFrom(d.expression(first), nil, depth)
		if of == nil || one != nil && of.Name != one.Name {
			return &loaded{isUnclear: true, Name: Name{Module: settingsModule}}
		}
		one = of
	}
	if one == nil {
		return &loaded{isUnclear: true, Name: Name{Module: settingsModule}}
	}
	return one
}

// loadedByCall returns the settings that a call returns, which stands at an offset, and where it ends: one of a library
// or of a function of the source.
func (d *Names) loadedByCall(x expression, at, depth int) (*loaded, int) {
	if m := loads.FindIndex(x.code[at:]); m != nil && m[0] == 0 {
		arguments, to := x.arguments(at + m[1])
		return d.loadedFrom(arguments[0], nil, depth), to
	}
	if m := wraps.FindIndex(x.code[at:]); m != nil {
		arguments, to := x.arguments(at + m[1])
		return d.loadedIn(arguments[0], "", depth-1), to
	}
	if m := loadsAny.FindIndex(x.code[at:]); m != nil {
		_, to := x.arguments(at + m[1])
		return &loaded{isUnclear: true, Name: Name{Module: settingsModule}}, to
	}
	m := callOfName.FindSubmatchIndex(x.code[at:])
	if m == nil || m[4] >= 0 {
		return nil, at
	}
	arguments, to := x.arguments(at + m[1])
	return d.loadedByFunction(string(x.code[at+m[2]:at+m[3]]), arguments, depth-1), to
}

// arguments returns the arguments of a call that begin at an offset of the expression, and where the call ends.
func (x expression) arguments(from int) (each []expression, end int) {
	t := source.Text{Raw: x.raw, Code: x.code}
	spans, all := t.Arguments(from)
	for _, s := range spans {
		each = append(each, x.part(s))
	}
	if end = all.To; end < len(x.code) && strings.IndexByte(")]}", x.code[end]) >= 0 {
		end++
	}
	return each, end
}
