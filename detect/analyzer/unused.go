package analyzer

import (
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// oldMadeFor is a statement that makes an object for a variable, or several objects for some in parentheses, and does
	// nothing else with it.
	oldMadeFor = lazyregexp.New(`^[ \t]*(?:(?:const|let|var|val|auto|final|[A-Z][\w.<>]*)[ \t]+)*` +
		`(?P<names>\([\w \t,]+\)|\w+)[ \t]*(?::[ \t]*[\w.<>]+[ \t]*)?:?=[ \t]*` +
		`(?:new[ \t]+)?[\w.:]+(?:\([^()\n]*\))?[ \t]*;?[ \t\r]*(?:\n\s*[^.?\s]|$)`)
	nameIn = lazyregexp.New(`\b[a-zA-Z]\w*`)
	// oldSetsStatus is what follows an object that is told a status, which gives it to no server.
	oldSetsStatus = lazyregexp.New(`(?i)^\s*(?:\.|->)\s*(?:set|add_?status|clear|enter|shutdown)`)
	// ofModule begins a variable that a module of JavaScript does not export.
	ofModule = lazyregexp.New(`^(?:const|let)\b`)
	// isDeclared is the head of the declarations of what other files may use.
	isDeclared = lazyregexp.New(
		`\b(?:class|interface|object|module|namespace|struct|impl|trait|enum|record|extends|implements)\b`)
)

// usesOf returns where the variables are used, other than to tell them statuses, for which something is made at an
// offset. ok says that it is made for variables alone, and that no other use can be elsewhere if there is none: they
// are a function's, or a module's that does not export them.
func usesOf(names *address.Names, at int) (uses []int, ok bool) {
	line := names.LineStart(names.LogicalLine(at))
	m := oldMadeFor.FindSubmatchIndex(names.Code[line:])
	if m == nil {
		return nil, false
	}
	for _, name := range nameIn.FindAllIndex(names.Code[line+m[2]:line+m[3]], -1) {
		declared, length := line+m[2]+name[0], name[1]-name[0]
		made := string(names.Code[declared : declared+length])
		for at := range names.Words(made) {
			if made != "mut" && at != declared && !oldSetsStatus.Match(names.Code[at+length:]) {
				uses = append(uses, at)
			}
		}
	}
	return uses, len(uses) > 0 || names.InFunction(at, isDeclared) || ofModule.Match(names.Code[line:])
}
