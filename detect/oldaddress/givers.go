package address

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// giver is what may give a value when the process starts, as [Value] has it, and the offset where it is asked for: what
// stands before something else goes before that, as in PORT || options.port || 50051.
type giver struct {
	name string
	at   int
}

// maxGivers is how many of them one value may have.
const maxGivers = 32

// giverNames returns the givers of the expression, each once.
func (e *evaluation) giverNames() []string {
	var all []string
	for _, g := range e.givers {
		if !slices.Contains(all, g.name) && len(all) < maxGivers {
			all = append(all, g.name)
		}
	}
	return all
}

// sortGivers puts those that were found since then into the order in which they stand.
func (e *evaluation) sortGivers(since int) {
	slices.SortStableFunc(e.givers[since:], func(a, b giver) int { return cmp.Compare(a.at, b.at) })
}

// standAt says of those that were found since then that they stand at an offset, where the name is used that has them.
func (e *evaluation) standAt(since, at int) {
	for i := since; i < len(e.givers); i++ {
		e.givers[i].at = at
	}
}

// givenBy takes what may give a name.
func (e *evaluation) givenBy(name string) {
	for _, giverName := range e.giversOf(name) {
		e.givers = append(e.givers, giver{giverName, 0})
	}
}

// givenByVariables takes the environment variables of an expression, those of an option first.
func (e *evaluation) givenByVariables(x expression) {
	for _, variable := range x.variables {
		e.givers = append(e.givers, giver{VariableGiver(variable), x.at})
	}
	for _, m := range environment.FindAllSubmatchIndex(x.raw, maxDeclarations) {
		for g := 2; g < len(m); g += 2 {
			if m[g] >= 0 {
				e.givers = append(e.givers, giver{VariableGiver(string(x.raw[m[g]:m[g+1]])), x.at + m[0]})
			}
		}
	}
}

// positional is an argument of the program, by its number: from 1 in some languages, from 0 in those where the list
// does not have the program.
var positional = lazyregexp.New(
	`(?:\bsys\.argv|\$argv|\bCommandLine\.arguments|\bargv)\[(?P<one>[1-9])\]|` +
		`\bprocess\.argv\[(?P<two>[2-9])\]|(?:\bARGV|\bargs)(?:\[|\()(?P<zero>0)[\])]|` +
		`\bARGV\[(?P<from>[1-9])\]|\bARGV\.(?P<first>first)\b|\bargs\(\)\.nth\((?P<nth>[1-9])\)`)

// givenByArguments takes the arguments of the program in an expression.
func (e *evaluation) givenByArguments(x expression) {
	for _, m := range positional.FindAllSubmatchIndex(x.code, maxDeclarations) {
		for g, name := range positional.SubexpNames() {
			if m[2*g] < 0 || name == "" {
				continue
			}
			number, _ := strconv.Atoi(string(x.code[m[2*g]:m[2*g+1]]))
			switch name {
			case "two":
				number--
			case "zero", "from", "first":
				number++
			}
			e.givers = append(e.givers, giver{argumentGiver(number), x.at + m[0]})
		}
	}
}

// property is a property of the Java virtual machine.
var property = lazyregexp.New(
	`\b(?:System\.getProperty|Integer\.getInteger|sys\.props(?:\.\w+)?)\(\s*"([\w.-]+)"`)

// givenByProperties takes the properties of the Java virtual machine in an expression.
func (e *evaluation) givenByProperties(x expression) {
	for _, m := range property.FindAllSubmatchIndex(x.raw, maxDeclarations) {
		e.givers = append(e.givers, giver{FlagGiver("D" + string(x.raw[m[2]:m[3]])), x.at + m[0]})
	}
}

// givenIn takes what may give the names in the value of a name, which itself is not followed.
func (e *evaluation) givenIn(x expression) {
	e.givenByVariables(x)
	e.givenByArguments(x)
	for _, m := range dottedName.FindAllIndex(x.code, maxDeclarations) {
		e.givenBy(fieldOf(x.nameAt(m).Dotted))
	}
}

// fieldOf returns a dotted name as the text declares it: ".port" of options.port.
func fieldOf(dotted string) string {
	name := Path(dotted)
	if _, field, ok := strings.Cut(name, "."); ok {
		return "." + field
	}
	return name
}
