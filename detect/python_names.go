package detect

import (
	"bytes"
	"regexp"
	"strings"
)

// pythonNames are the names that a source imports, with what they stand for: "g" for "grpc.aio". An import anywhere in
// the file counts for all of it.
type pythonNames struct {
	bound map[string]string
	stars []string // modules whose names are all imported
	code  []byte   // the source's, without the imports
}

var (
	pythonImport = regexp.MustCompile(`(?m)^[ \t]*import[ \t]+((?:[^\n\\;]|\\\r?\n)+)`)
	pythonFrom   = regexp.MustCompile(`(?m)^[ \t]*from[ \t]+([\w.]+)[ \t]+import\b[ \t]*(?:\\\r?\n[ \t]*)?(\(|(?:[^\n\\;(]|\\\r?\n)+)`)
	pythonAs     = regexp.MustCompile(`^\s*([\w.*]+)(?:\s+as\s+(\w+))?\s*$`)
)

func newPythonNames(s *source) pythonNames {
	n := pythonNames{bound: map[string]string{}, code: bytes.Clone(s.code)}
	for _, m := range pythonFrom.FindAllSubmatchIndex(s.code, -1) {
		module := string(s.code[m[2]:m[3]])
		if !strings.HasSuffix(module, ".") {
			module += "."
		}
		end := m[5]
		if s.code[m[4]] == '(' {
			end = pythonClosing(s.code, m[5])
		}
		pythonEach(s.code[m[4]:end], func(name, as string) { n.bindFrom(module, name, as) })
		blank(n.code[m[0]:end])
	}
	for _, m := range pythonImport.FindAllSubmatchIndex(n.code, -1) {
		pythonEach(n.code[m[2]:m[3]], n.bind)
		blank(n.code[m[0]:m[1]])
	}
	return n
}

// longestPythonList is how far a closing parenthesis is looked for, in bytes: hundreds of names.
const longestPythonList = 16 << 10

// pythonClosing returns where the next closing parenthesis is, or from where none is near.
func pythonClosing(code []byte, from int) int {
	if n := bytes.IndexByte(code[from:min(len(code), from+longestPythonList)], ')'); n >= 0 {
		return from + n
	}
	return from
}

// pythonEach names what an import lists.
func pythonEach(list []byte, imported func(name, as string)) {
	text := strings.NewReplacer("(", " ", ")", " ", "\\", " ").Replace(string(list))
	for item := range strings.SplitSeq(text, ",") {
		if m := pythonAs.FindStringSubmatch(item); m != nil {
			imported(m[1], m[2])
		}
	}
}

func (n *pythonNames) bind(module, as string) {
	if as != "" {
		n.bound[as] = module
		return
	}
	first, _, _ := strings.Cut(module, ".")
	n.bound[first] = first
}

func (n *pythonNames) bindFrom(module, name, as string) {
	switch {
	case name == "*":
		n.stars = append(n.stars, module)
	case as != "":
		n.bound[as] = module + name
	default:
		n.bound[name] = module + name
	}
}

// meanings returns the full names that a dotted name may stand for.
func (n *pythonNames) meanings(name string) []string {
	first, rest, dotted := strings.Cut(name, ".")
	if full, ok := n.bound[first]; ok {
		if dotted {
			full += "." + rest
		}
		return []string{full}
	}
	all := []string{name}
	for _, module := range n.stars {
		all = append(all, module+name)
	}
	return all
}

// tests reports whether a source is of tests wherever it lies: pytest plugins, and fixtures that suites share.
func (n *pythonNames) tests() bool {
	return n.bound["pytest"] != "" || n.bound["pytest_asyncio"] != "" || n.bound["unittest"] != ""
}

// pythonUse is how a name is used.
type pythonUse int

const (
	pythonMentioned pythonUse = iota // handed on, as to a helper that registers
	pythonCalled
	pythonInherited // it is a base of a class
)

var (
	pythonDotted = regexp.MustCompile(`[A-Za-z_]\w*(?:[ \t]*\.[ \t]*[A-Za-z_]\w*)*`)
	pythonClass  = regexp.MustCompile(`(?m)^[ \t]*class[ \t]+\w+[ \t]*\(`)
	pythonCall   = regexp.MustCompile(`^[ \t]*\(`)

	pythonDefines = regexp.MustCompile(`\b(def|class)[ \t]+$`)
)

// signs returns what the names of pythonAPI that are used in a source say.
func (n pythonNames) signs(s *source) []sign {
	var found []sign
	bases := pythonClass.FindAllIndex(n.code, -1)
	for _, at := range pythonDotted.FindAllIndex(n.code, -1) {
		if at[0] > 0 && (n.code[at[0]-1] == '.' || n.code[at[0]-1] >= '0' && n.code[at[0]-1] <= '9') {
			continue // what is before the dot is no name
		}
		if pythonDefines.Match(n.code[max(0, at[0]-8):at[0]]) {
			continue
		}
		use := n.use(at[1])
		for len(bases) > 1 && bases[1][1] <= at[0] {
			bases = bases[1:]
		}
		if len(bases) > 0 && bases[0][1] <= at[0] && at[1] <= pythonClosing(n.code, bases[0][1]) {
			use = pythonInherited
		}
		name := strings.NewReplacer(" ", "", "\t", "").Replace(string(n.code[at[0]:at[1]]))
		if said, ok := n.reference(name, use); ok && !pythonDeclines(said, s, at[1]) {
			said.line, said.what = s.line(at[0]), onOneLine(s.text[at[0]:at[1]])
			found = append(found, said)
		}
	}
	return found
}

func (n *pythonNames) use(after int) pythonUse {
	if pythonCall.Match(n.code[after:min(len(n.code), after+16)]) {
		return pythonCalled
	}
	return pythonMentioned
}

// reference returns what the use of a name says. The first row that fits decides.
func (n *pythonNames) reference(name string, use pythonUse) (sign, bool) {
	if first, _, _ := strings.Cut(name, "."); n.bound[first] == "" && !pythonTelling.MatchString(name) {
		return sign{}, false
	}
	for _, full := range n.meanings(name) {
		for _, api := range pythonAPI {
			if use >= api.use && (api.use != pythonCalled || use == pythonCalled) && api.name.MatchString(full) {
				return sign{kind: api.kind, framework: api.framework, from: full}, true
			}
		}
	}
	return sign{}, false
}
