package python

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// imports are the names that a source imports. An import anywhere in the file counts for the whole file.
type imports struct {
	// names maps the names in the file to full names: "aio" to "grpc.aio".
	names map[string]string
	// wildcards are the modules of wildcard imports, each with a dot at the end.
	wildcards []string
	// rest is the source with blank import statements: to import a name is not to use the name.
	rest *source.Text
}

var (
	importStatement = lazyregexp.New(
		`(?m)^[ \t]*(?:from[ \t]+(?P<module>[\w.]+)[ \t]+)?import\b(?P<list>[^\n;]+)`)
	importedName = lazyregexp.New(`^\s*([\w.*]+)(?:\s+as\s+(\w+))?\s*$`)
	inList       = strings.NewReplacer("(", " ", ")", " ", "\\", " ")
)

// maxWildcards is how many wildcard imports of a file are followed. Each is a possible origin of every name.
const maxWildcards = 16

// readImports reads the import statements of a source (Python Language Reference, The import statement).
func readImports(t *source.Text) imports {
	rest := *t
	rest.Code = bytes.Clone(t.Code)
	i := imports{names: map[string]string{}, rest: &rest}
	for _, m := range t.FindAll(importStatement, -1) {
		module, isFrom := t.Group(importStatement, m, "module")
		list, _ := t.Group(importStatement, m, "list")
		for item := range strings.SplitSeq(inList.Replace(list), ",") {
			switch name := importedName.FindStringSubmatch(item); {
			case name == nil:
			case isFrom:
				i.addFrom(strings.TrimSuffix(module, ".")+".", name[1], name[2])
			case name[2] != "":
				i.names[name[2]] = name[1]
			default: // "import grpc.aio" makes the name "grpc" known
				first, _, _ := strings.Cut(name[1], ".")
				i.names[first] = first
			}
		}
		source.Blank(rest.Code[m[0]:m[1]])
	}
	return i
}

// addFrom adds an imported name of a module. The module ends with a dot.
func (i *imports) addFrom(module, name, alias string) {
	switch {
	case name != "*":
		i.names[cmp.Or(alias, name)] = module + name
	case len(i.wildcards) < maxWildcards:
		i.wildcards = append(i.wildcards, module)
	}
}

// possibleName matches names that the rules may know without an import of their first part: names without a module, or
// names from a wildcard import.
var possibleName = lazyregexp.New(`Servicer|_server$|^Server$`)

// resolve returns the possible full names of a dotted name in the source, none for a name that no rule knows.
func (i *imports) resolve(name string) []string {
	first, rest, _ := strings.Cut(name, ".")
	if full := i.names[first]; full != "" {
		return []string{strings.TrimSuffix(full+"."+rest, ".")}
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

// ofTest reports whether a source in any directory belongs to tests: a pytest plugin, or shared fixtures of tests.
func (i *imports) ofTest() bool {
	return i.names["pytest"] != "" || i.names["pytest_asyncio"] != "" || i.names["unittest"] != ""
}
