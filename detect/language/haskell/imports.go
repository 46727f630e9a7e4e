package haskell

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// importDeclaration is an import, with the indented lines that follow.
	importDeclaration = lazyregexp.New(`(?m)^import\b(?:\s+(?:safe\b|"[^"\n]*"))*(?P<qualified>\s+qualified\b)?` +
		`(?:\s+"[^"\n]*")?\s+(?P<module>[A-Z][\w.]*)(?P<rest>[^\n]*(?:\n[ \t][^\n]*|\n)*)`)
	// importRest is the text after the module, possibly with qualified.
	importRest = lazyregexp.New(`^\s*(?P<qualified>qualified\b\s*)?(?:as\s+[\w.]+\s*)?` +
		`(?P<list>(?:hiding\s*)?\()?`)
	importedName = lazyregexp.New(`[\w']+`)
	// moduleHeader is the name of the file's module, with the exported names.
	moduleHeader = lazyregexp.New(`(?m)^module\b(?s:.*?)\bwhere\b`)
)

// imports are the imports of a file, as module:name, or as module:* for all names of a module.
type imports struct {
	all []string
	// unqualified are the imports of names usable without the module.
	unqualified []string
}

// takeImports returns the imports of a file, and blanks imports and exports in the code, because names in an import or
// an export are not uses.
func takeImports(t *source.Text) imports {
	var found imports
	for _, m := range t.FindAll(importDeclaration, -1) {
		module, _ := t.Group(importDeclaration, m, "module")
		_, isQualified := t.Group(importDeclaration, m, "qualified")
		names, isQualifiedBehind := importedNames(t.Code[m[2*importDeclaration.SubexpIndex("rest")]:m[1]])
		for _, name := range names {
			found.all = append(found.all, module+":"+name)
			if !isQualified && !isQualifiedBehind {
				found.unqualified = append(found.unqualified, module+":"+name)
			}
		}
		source.Blank(t.Code[m[0]:m[1]])
	}
	for _, m := range t.FindAll(moduleHeader, 1) {
		source.Blank(t.Code[m[0]:m[1]])
	}
	return found
}

// importedNames returns the names in an import after the module, or "*", and whether uses need the module before the
// name.
func importedNames(rest []byte) (names []string, isQualified bool) {
	m := importRest.FindSubmatch(rest)
	isQualified = len(m[importRest.SubexpIndex("qualified")]) > 0
	list := string(m[importRest.SubexpIndex("list")])
	if list == "" || strings.HasPrefix(list, "hiding") {
		return []string{"*"}, isQualified
	}
	for _, name := range importedName.FindAll(rest[len(m[0]):], -1) {
		names = append(names, string(name))
	}
	return names, isQualified
}
