package address

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"

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
	left, without := maxAssigned, sync.OnceValue(d.withoutValue)
	for _, name := range slices.Sorted(maps.Keys(d.byName)) {
		all := d.byName[name]
		if strings.HasPrefix(name, ".") || len(all) < 2 {
			continue
		}
		for i, x := range all {
			if left--; left < 0 {
				return
			}
			line := d.LogicalLine(x.value.at)
			if !x.isBare || d.declaring(all, line) < 0 || d.IsParameter(name, x.value.at) {
				continue
			}
			if scope := d.declaring(slices.Concat(all, without()[name]), line); scope >= 0 {
				all[i].scope = scope
			}
		}
	}
}

// maxAssigned is how many values of names that have several are looked at for the variables that they set.
const maxAssigned = 4000

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
	// valueless is the declaration of a variable that gives it no value, with its type before or behind, and noType a
	// word before a name that is no type.
	valueless = lazyregexp.New(`(?P<type>[\w>\])?]+)[ \t]*[*&]*[ \t](?P<name>[A-Za-z_]\w*)[ \t]*` +
		`(?:;|:[ \t]*[\w.<>?\[\]]+[ \t]*[;\r\n])`)
	noType = source.Exactly(`return|throw|new|case|in|is|as|await|yield|delete|typeof|print|echo`)
)

// withoutValue returns declarations that give a name no value, by the name, with their scopes alone.
func (d *Names) withoutValue() map[string][]declaration {
	all := map[string][]declaration{}
	for _, m := range d.FindAll(valueless, maxAssigned) {
		if word, _ := d.Group(valueless, m, "type"); !noType.MatchString(word) {
			name, _ := d.Group(valueless, m, "name")
			scope := d.blocks.ScopeOf(d.LogicalLine(m[0]), false)
			all[name] = append(all[name], declaration{scope: scope})
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

// isGiven reports whether an expression is a parameter of the function with a name that it stands in.
func (d *Names) isGiven(x expression) bool {
	name := string(bytes.TrimSpace(x.code))
	if !isName.MatchString(name) {
		return false
	}
	line := d.LogicalLine(x.at)
	before := d.Code[d.LineStart(line):x.at]
	if m := functionInLine.FindSubmatch(before[max(0, len(before)-maxFunctionLine):]); m != nil {
		return UsesName(string(m[1])+",", name)
	}
	head := d.headWith(name, line)
	return head >= 0 && functionHead.Match(d.LineCode(head))
}

var (
	// functionHead is the head of a function with a name, and functionInLine one with its body up to an expression.
	functionHead   = lazyregexp.New(`[\w>?!][ \t]*\([^()]*\w[^()]*\)[^()]*$`)
	functionInLine = lazyregexp.New(`[\w>?!][ \t]*\(([^()]*)\)[^(){};]*(?:\{|=>?)[^{}]*$`)
)

// maxFunctionLine is how many bytes before an expression are looked at for such a function.
const maxFunctionLine = 300

// AssignGlobal says that functions set variables of the whole text by the names that a pattern has in the group
// "names": global port, host.
func (d *Names) AssignGlobal(statement *lazyregexp.Regexp) {
	for _, m := range d.FindAll(statement, maxTuples) {
		names, _ := d.Group(statement, m, "names")
		scope := d.blocks.ScopeOf(d.LogicalLine(m[0]), false)
		for name := range strings.SplitSeq(names, ",") {
			all := d.byName[strings.TrimLeft(name, " \t$")]
			for i := range all {
				if all[i].scope == scope {
					all[i].scope = 0
				}
			}
		}
	}
}
