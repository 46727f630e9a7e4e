package address

import (
	"bytes"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// bare is what stands before the name of a variable that an assignment does not declare: where a declaration has a word
// or a type.
var bare = lazyregexp.New(`(?:^|[;{}(),:&|]|=>|->|\b(?:else|then|do|and|or|not))[ \t]*(?:[\w$]+(?:\.|->|::))?$`)

// maxDeclared is how many bytes before a name are looked at for what declares it.
const maxDeclared = 80

// isBare reports whether the assignment to the name at an offset declares no variable.
func (d *Names) isBare(at int) bool {
	line := d.Code[d.LineStart(d.LogicalLine(at)):at]
	return bare.Match(bytes.TrimRight(line[max(0, len(line)-maxDeclared):], " \t"))
}

// AssignOuter says that an assignment that declares no variable sets the one of the innermost scope around it that is
// declared, so that what a function within another one sets counts for both, and what a method sets for its class.
func (d *Names) AssignOuter() {
	for name, all := range d.byName {
		if strings.HasPrefix(name, ".") || len(all) < 2 {
			continue
		}
		for i, x := range all {
			if !x.isBare || d.IsParameter(name, x.value.at) {
				continue
			}
			if scope := d.declaring(slices.Concat(all, d.withoutValue(name)), d.LogicalLine(x.value.at)); scope >= 0 {
				all[i].scope = scope
			}
		}
	}
}

// declaring returns the innermost scope around a line that one of several declarations of a name is in, or -1.
func (d *Names) declaring(all []declaration, line int) int {
	scope, deepest := -1, -1
	for _, x := range all {
		if depth := d.blocks.Depth(x.scope, line); !x.isBare && depth > deepest {
			scope, deepest = x.scope, depth
		}
	}
	return scope
}

var (
	// endsDeclaration is what follows the name of a variable that is declared without a value, and noType a word before
	// a name that is no type.
	endsDeclaration = lazyregexp.New(`^[ \t]*(?:;|:[ \t]*[\w.<>?\[\]]+[ \t]*[;\r\n])`)
	noType          = lazyregexp.New(`\b(?:return|throw|new|case|in|is|as|await|yield|delete|typeof|print|echo)$`)
)

// withoutValue returns declarations of a name that give it no value, with their scopes alone.
func (d *Names) withoutValue(name string) []declaration {
	var all []declaration
	for at := range d.Words(name) {
		before := bytes.TrimRight(d.Code[max(0, at-maxDeclared):at], " \t")
		if endsDeclaration.Match(d.Code[at+len(name):]) && !d.isBare(at) && !noType.Match(before) &&
			!bytes.HasSuffix(before, []byte(".")) {
			all = append(all, declaration{scope: d.blocks.ScopeOf(d.LogicalLine(at), false)})
		}
		if len(all) == maxDeclarations {
			break
		}
	}
	return all
}

// isAssignedAgain reports whether a variable is assigned another value, beside the one in a span, where that is seen:
// not a parameter, for which calls decide.
func (d *Names) isAssignedAgain(name string, value source.Span) bool {
	return slices.ContainsFunc(d.visible(name, value.From), func(x expression) bool {
		before := d.Code[max(0, x.at-maxDeclared):x.at]
		isOther := x.at >= value.To || x.at+len(x.raw) <= value.From
		return isOther && !d.isGiven(x) && bytes.HasSuffix(bytes.TrimRight(before, " \t"), []byte("="))
	})
}

// isGiven reports whether an expression is a parameter of the function that it stands in.
func (d *Names) isGiven(x expression) bool {
	name := string(bytes.TrimSpace(x.code))
	if !isName.MatchString(name) {
		return false
	}
	before := d.Code[d.LineStart(d.LogicalLine(x.at)):x.at]
	m := functionInLine.FindSubmatch(before[max(0, len(before)-maxFunctionLine):])
	return m != nil && UsesName(string(m[1])+",", name) || d.IsParameter(name, x.at)
}

// functionInLine is a function whose body is in the line of its parameters.
var functionInLine = lazyregexp.New(`\(([^()]*)\)[^(){};]*(?:\{|=>?)[^{}]*$`)

// maxFunctionLine is how many bytes before an expression are looked at for such a function.
const maxFunctionLine = 300

// AssignGlobal says that the assignments to a name in the function around an offset set a variable of the whole text.
func (d *Names) AssignGlobal(name string, at int) {
	scope := d.blocks.ScopeOf(d.LogicalLine(at), false)
	for i, x := range d.byName[name] {
		if x.scope == scope {
			d.byName[name][i].scope = 0
		}
	}
}
