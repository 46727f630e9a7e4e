package address

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// opens is a call whose first argument is the path of a file, or a text that is made of one's.
	opens = lazyregexp.New(`^(?:(?:io|codecs|fs|Path|pathlib\.Path)\.)?(?:open|readFileSync|readFile)\s*\(|` +
		`^(?:File|IO)\.(?:open|read|new)\s*\(|^ERB\.new\s*\(`)
	// opened is the name of a file that is open, after the call that opens it.
	opened = lazyregexp.New(`\bas\s+(?P<name>\w+)\s*[:,)]|\|\s*(?P<name>\w+)\s*\|`)
	// openCall opens the file of a name.
	openCall = lazyregexp.New(`(?:\b(?:io\.|codecs\.|File\.)?open|\.open)\(`)
	// partOfPath is what a path is made of: a text, or a name.
	partOfPath = lazyregexp.New("\"[ \\n]*\"|'[ \\n]*'|`[ \\n]*`|:\\w+|[A-Za-z_]\\w*(?:\\.\\w+)*")
	// ofPath are names that say nothing of a path's end: a directory above the source, or what joins parts.
	ofPath = lazyregexp.New(`^(?:os\.(?:path\.(?:join|dirname|abspath|realpath|normpath)|getcwd|sep|` +
		`environ(?:\.get)?|getenv)|(?:pathlib\.)?Path(?:\.cwd)?|__file__|__dir__|__FILE__|__dirname|parents?|resolve|` +
		`absolute|str|File\.(?:join|expand_path|dirname|absolute_path)|Rails\.root(?:\.join)?|` +
		`Pathname(?:\.new)?|Dir\.pwd|path\.(?:join|resolve|dirname)|join|process\.(?:cwd|env(?:\.\w+)?)|` +
		`ENV(?:\.fetch)?|to_s|toString|read(?:_text)?|` +
		`result|or|as|await|f|r)$`)
	// fileMode is how a file is opened or encoded.
	fileMode = lazyregexp.New(`^(?:[rbt]{1,2}|(?i:utf-?8.*|ascii))$`)
)

// loadedFrom returns the settings in a file, by the expression of its path or of its text. They are unclear if it is
// not known, and nil if they are in no file.
func (d *Names) loadedFrom(x expression, given map[string]expression, depth int) *loaded {
	f := filePath{Names: d, given: given, at: x.at}
	f.read(x, depth)
	name := path.Join(f.parts...)
	l := &loaded{Name: Name{Module: settingsModule + name}, givers: f.givers}
	if f.isDefault {
		l.Module = defaultSettings + name
	}
	if f.isUnknown || !IsSettingsFile(name) {
		l.isUnclear = !f.isDefault || len(f.parts) > 0
		if !l.isUnclear {
			return nil // the environment has the settings themselves
		}
		l.Module = settingsModule
	}
	return l
}

// IsSettingsFile reports whether a file may have settings that sources read by its path.
func IsSettingsFile(file string) bool {
	return slices.Contains([]string{".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf"}, path.Ext(file))
}

// filePath is the path of a file, as an expression makes it.
type filePath struct {
	*Names
	given     map[string]expression // the parameters of a function
	at        int                   // where the file is read
	parts     []string
	isDefault bool // the environment or the command line may name another file
	isUnknown bool
	givers    []giver
}

// read reads a part of the path.
func (f *filePath) read(x expression, depth int) {
	if f.leftLoaded--; f.leftLoaded < 0 || depth == 0 {
		f.isUnknown = true
		return
	}
	x = x.trim()
	if m := opens.FindIndex(x.code); m != nil {
		arguments, _ := x.arguments(m[1])
		f.read(arguments[0], depth-1)
		return
	}
	asked := Variables(x.raw)
	for _, v := range asked {
		f.isDefault = true
		f.givers = append(f.givers, giver{VariableGiver(v), x.at})
	}
	for _, m := range partOfPath.FindAllIndex(x.code, maxDeclarations) {
		part := x.code[m[0]:m[1]]
		switch text := string(x.raw[m[0]+1 : max(m[0]+1, m[1]-1)]); {
		case strings.IndexByte("\"'`", part[0]) < 0:
			f.name(string(part), x, depth)
		case fileMode.MatchString(text), slices.Contains(asked, text):
		case strings.ContainsAny(text, "{}$#%*"):
			f.isUnknown = true
		default:
			f.parts = append(f.parts, withoutParents(text))
		}
	}
}

// withoutParents returns a path without what leads to the folders above, in one of which it is.
func withoutParents(text string) string {
	for {
		rest := strings.TrimPrefix(strings.TrimPrefix(text, "../"), "./")
		if rest == text {
			return strings.TrimPrefix(rest, "/")
		}
		text = rest
	}
}

// trim returns an expression without white space around it.
func (x expression) trim() expression {
	begin := len(x.code) - len(bytes.TrimLeft(x.code, " \t\n"))
	end := max(begin, len(bytes.TrimRight(x.code, " \t\n;")))
	return expression{raw: x.raw[begin:end], code: x.code[begin:end], at: x.at + begin}
}

// name reads a name in the path.
func (f *filePath) name(dotted string, x expression, depth int) {
	if ofPath.MatchString(dotted) && dotted != "f" {
		return
	}
	dotted = methodOfPath.ReplaceAllString(dotted, "")
	if v, ok := f.given[dotted]; ok {
		f.read(v, depth-1)
		return
	}
	if v, ok := f.openedAs(dotted); ok {
		f.read(v, depth-1)
		return
	}
	name := fieldOf(dotted)
	for _, giver := range f.giversOf(name) {
		f.addGiver(giver)
	}
	values := f.visible(name, x.at)
	if len(values) != 1 || values[0].at == x.at {
		f.isUnknown = f.isUnknown || dotted != "f" || len(values) > 0
		return
	}
	f.isDefault = f.isDefault || values[0].isOption
	f.read(values[0], depth-1)
}

func (f *filePath) addGiver(name string) { f.givers = append(f.givers, giver{name, f.at}) }

// methodOfPath ends a path whose file is opened or whose text is read.
var methodOfPath = lazyregexp.New(`\.(?:read|read_text|read_bytes|to_s|toString|open|parent|parents)$`)

// dottedEnd is a name at the end of code.
var dottedEnd = lazyregexp.New(`[\w.]+$`)

// maxOpening is how many bytes before the name of a file the call stands that opens it.
const maxOpening = 300

// openedAs returns the path of the file that a name has where the settings are read.
func (f *filePath) openedAs(name string) (expression, bool) {
	var path expression
	for _, m := range f.FindAll(opened, maxKeys) {
		if of, _ := f.Group(opened, m, "name"); of != name || m[0] > f.at {
			continue
		}
		from := max(0, m[0]-maxOpening)
		calls := openCall.FindAllIndex(f.Code[from:m[0]], -1)
		if calls == nil {
			continue
		}
		call := calls[len(calls)-1]
		first, _ := f.Argument(from+call[1], 0, "file")
		path = f.expression(first)
		if at := from + call[0]; f.Code[at] == '.' { // a method of the path
			path = f.expression(source.Span{From: at - len(dottedEnd.Find(f.Code[from:at])), To: at})
		}
	}
	return path, path.code != nil
}
