package python

import (
	"bytes"
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
	importStatement = lazyregexp.New(`(?m)^[ \t]*import[ \t]+(?P<list>[^\n;]+)`)
	fromStatement   = lazyregexp.New(`(?m)^[ \t]*from[ \t]+(?P<module>[\w.]+)[ \t]+import\b(?P<list>[^\n;]+)`)
	importedName    = lazyregexp.New(`^\s*([\w.*]+)(?:\s+as\s+(\w+))?\s*$`)
	inList          = strings.NewReplacer("(", " ", ")", " ", "\\", " ")
)

// readImports reads the import statements of a source (Python Language Reference, The import statement).
func readImports(t *source.Text) imports {
	rest := *t
	rest.Code = bytes.Clone(t.Code)
	i := imports{names: map[string]string{}, rest: &rest}
	for _, m := range t.FindAll(fromStatement, -1) {
		module := strings.TrimSuffix(string(t.Code[m[2]:m[3]]), ".") + "."
		eachImported(t.Code[m[4]:m[5]], func(name, alias string) { i.addFrom(module, name, alias) })
		source.Blank(rest.Code[m[0]:m[1]])
	}
	for _, m := range t.FindAll(importStatement, -1) {
		eachImported(t.Code[m[2]:m[3]], i.add)
		source.Blank(rest.Code[m[0]:m[1]])
	}
	return i
}

// eachImported calls add with each name in the list of an import statement, and its alias or "".
func eachImported(list []byte, add func(name, alias string)) {
	for item := range strings.SplitSeq(inList.Replace(string(list)), ",") {
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

// maxWildcards is how many wildcard imports of a file are followed. Each one is a possible origin of every name.
const maxWildcards = 16

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

// possibleName matches the names that the rules may know although the file does not import their first part, because
// they need no module before them or come from a wildcard import.
var possibleName = lazyregexp.New(`Servicer|_server$|^Server$`)

// resolve returns the full names that a dotted name in the source may stand for, none for one that no rule knows.
func (i *imports) resolve(name string) []string {
	first, rest, dotted := strings.Cut(name, ".")
	if full, ok := i.names[first]; ok {
		if dotted {
			full += "." + rest
		}
		return []string{full}
	}
	if !possibleName.MatchString(name) {
		return nil
	}
	all := []string{name}
	for _, module := range i.wildcards {
		all = append(all, module+name)
	}
	return all
}

// ofTest reports whether a source belongs to tests wherever it lies: a pytest plugin, or fixtures that several tests
// share.
func (i *imports) ofTest() bool {
	return i.names["pytest"] != "" || i.names["pytest_asyncio"] != "" || i.names["unittest"] != ""
}
