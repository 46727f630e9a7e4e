package python

import (
	"bytes"
	"iter"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// imports are the names that a source imports. An import anywhere in the file counts for the whole file.
type imports struct {
	// names are the full names by the names that the file uses: "grpc.aio" by "aio".
	names map[string]string
	// wildcards are the modules of which all names are imported, each with a dot at its end.
	wildcards []string
	// rest is the source in which the import statements are blank: to import a name is not to use it.
	rest *source.Text
}

var (
	importStatement = lazyregexp.New(`^import[ \t]+((?:[^\n\\;]|\\\r?\n)+)`)
	fromStatement   = lazyregexp.New(`^from[ \t]+([\w.]+)[ \t]+import\b[ \t]*(?:\\\r?\n[ \t]*)?` +
		`(\(|(?:[^\n\\;(]|\\\r?\n)+)`)
	importedName = lazyregexp.New(`^\s*([\w.*]+)(?:\s+as\s+(\w+))?\s*$`)
)

// maxStatement is how many bytes an import statement without parentheses, or the head of a class, is read of.
const maxStatement = 4096

// beginsLine reports whether only blanks stand before an offset in its line.
func beginsLine(code []byte, at int) bool {
	for at > 0 && (code[at-1] == ' ' || code[at-1] == '\t') {
		at--
	}
	return at == 0 || code[at-1] == '\n'
}

// statements yields the matches of a pattern where a word begins a statement at the beginning of a line.
func statements(t *source.Text, word string, pattern *lazyregexp.Regexp) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		for at := range t.Words(word) {
			if !beginsLine(t.Code, at) {
				continue
			}
			m := pattern.FindSubmatchIndex(t.Code[at:min(len(t.Code), at+maxStatement)])
			for i := range m {
				m[i] += at
			}
			if m != nil && !yield(m) {
				return
			}
		}
	}
}

// readImports reads the import statements of a source (Python Language Reference, The import statement).
func readImports(t *source.Text) imports {
	rest := *t
	rest.Code = bytes.Clone(t.Code)
	i := imports{names: map[string]string{}, rest: &rest}
	end := 0
	for m := range statements(t, "from", fromStatement) {
		if m[0] < end {
			continue // In valid Python no statement begins in the list of another; hostile sources have thousands.
		}
		module := string(t.Code[m[2]:m[3]])
		if !strings.HasSuffix(module, ".") {
			module += "."
		}
		end = m[5]
		if t.Code[m[4]] == '(' {
			end = closingParenthesis(t.Code, m[5])
		}
		eachImported(t.Code[m[4]:end], func(name, alias string) { i.addFrom(module, name, alias) })
		source.Blank(rest.Code[m[0]:end])
	}
	for m := range statements(&rest, "import", importStatement) {
		eachImported(rest.Code[m[2]:m[3]], i.add)
		source.Blank(rest.Code[m[0]:m[1]])
	}
	return i
}

const (
	// maxWildcards is how many wildcard imports of a file are followed. Each one is a possible origin of every name.
	maxWildcards = 16
	// maxList is how many bytes away a closing parenthesis is looked for. That is enough for hundreds of names.
	maxList = 16 << 10
)

// closingParenthesis returns the offset of the next closing parenthesis, or from if none is near.
func closingParenthesis(code []byte, from int) int {
	if n := bytes.IndexByte(code[from:min(len(code), from+maxList)], ')'); n >= 0 {
		return from + n
	}
	return from
}

// eachImported calls add with each name in the list of an import statement, and its alias or "".
func eachImported(list []byte, add func(name, alias string)) {
	text := strings.NewReplacer("(", " ", ")", " ", "\\", " ").Replace(string(list))
	for item := range strings.SplitSeq(text, ",") {
		if m := importedName.FindStringSubmatch(item); m != nil {
			add(m[1], m[2])
		}
	}
}

// add adds a module of an import statement. Without an alias, "import grpc.aio" makes the name "grpc" known.
func (i *imports) add(module, alias string) {
	if alias != "" {
		i.names[alias] = module
		return
	}
	first, _, _ := strings.Cut(module, ".")
	i.names[first] = first
}

// addFrom adds a name that is imported from a module. The module ends with a dot.
func (i *imports) addFrom(module, name, alias string) {
	switch {
	case name == "*":
		if len(i.wildcards) < maxWildcards {
			i.wildcards = append(i.wildcards, module)
		}
	case alias != "":
		i.names[alias] = module + name
	default:
		i.names[name] = module + name
	}
}

// resolve returns the full names that a dotted name in the source may stand for.
func (i *imports) resolve(name string) []string {
	first, rest, dotted := strings.Cut(name, ".")
	if full, ok := i.names[first]; ok {
		if dotted {
			full += "." + rest
		}
		return []string{full}
	}
	all := []string{name}
	for _, module := range i.wildcards {
		all = append(all, module+name)
	}
	return all
}

// mayKnow reports whether a name in the code can stand for one that the rules know: by its first part, which the file
// imports, or because possibleName matches it.
func (i *imports) mayKnow(name []byte) bool {
	_, imported := i.names[string(name[:endOfName(name, 0)])]
	return imported || possibleName.Match(name)
}

// ofTest reports whether a source belongs to tests wherever it lies: a pytest plugin, or fixtures that several tests
// share.
func (i *imports) ofTest() bool {
	return i.names["pytest"] != "" || i.names["pytest_asyncio"] != "" || i.names["unittest"] != ""
}
