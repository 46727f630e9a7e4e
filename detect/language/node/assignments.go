package node

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// assigned is a value that the source gives a name: to a variable, to a field, or by what a function returns.
type assigned struct {
	name  string
	at    int // the offset of the statement
	value source.Span
}

var (
	// assignmentHead is the beginning of an assignment or a declaration, up to the value.
	assignmentHead = regexp.MustCompile(`(?m)(?:^|[;{})])[ \t]*(?:(?:export|const|let|var|private|public|protected|` +
		`static|readonly)\s+)*(?:this\.)?(?P<name>[A-Za-z_$][\w$]*)\s*(?:[?!]?:[^=;,(){}\n]{1,100})?=\s*`)
	// functionHead is the beginning of a function, a method or a getter, up to its body.
	functionHead = regexp.MustCompile(`(?m)(?:\bfunction\s*|` +
		`^[ \t]*(?:(?:public|private|protected|static|async|get)\s+)*)` +
		`(?P<name>[A-Za-z_$][\w$]*)\s*\([^(){}]*\)\s*(?::[^(){};=\n]{1,100})?\{`)
	// arrowBody is the head of an arrow function with a body.
	arrowBody   = regexp.MustCompile(`^(?:async\s+)?(?:\([^(){}]*\)|[\w$]+)\s*(?::[^={}]{0,100})?=>\s*\{`)
	returnValue = regexp.MustCompile(`\breturn\b[ \t]*`)
	// ofEnvironment takes the names out of the environment: const { PORT = 50051 } = process.env.
	ofEnvironment = regexp.MustCompile(`\{(?P<names>[^{}]*)\}\s*=\s*process\.env\b`)
	withDefault   = regexp.MustCompile(`(?:^|[\s,:])([\w$]+)\s*=\s*`)
	// fromOutside is in a value that the environment or the command line gives.
	fromOutside = regexp.MustCompile(`\benv\b|\bargv\b|\bargs\b`)
	// statements are keywords that the head of a block begins with as a method does.
	statements = []string{"if", "for", "while", "switch", "catch", "with", "function"}
)

// maxAssignments is how many values of one name are looked at.
const maxAssignments = 16

// assigned returns the values of all names of the source, in its order.
func (p *pass) assigned() []assigned {
	if p.assignments != nil {
		return p.assignments
	}
	p.assignments = []assigned{}
	count := map[string]int{}
	add := func(name string, at int, value source.Span) {
		if count[name]++; count[name] <= maxAssignments {
			p.assignments = append(p.assignments, assigned{name, at, value})
		}
	}
	for _, m := range p.FindAll(assignmentHead, -1) {
		// What begins so is a comparison, or the parameter of a function.
		if m[1] == len(p.Code) || strings.IndexByte("=>", p.Code[m[1]]) >= 0 {
			continue
		}
		name, value := group(p.Text, assignmentHead, m, "name"), p.value(m[1])
		if p.isParameter(m, value.To) {
			continue
		}
		add(name, m[2], value)
		if body := arrowBody.FindIndex(p.Code[value.From:value.To]); body != nil {
			p.eachReturn(value.From+body[1], func(returned source.Span) { add(name, m[2], returned) })
		}
	}
	for _, m := range p.FindAll(functionHead, -1) {
		if name := group(p.Text, functionHead, m, "name"); !isStatement(name) {
			p.eachReturn(m[1], func(returned source.Span) { add(name, m[2], returned) })
		}
	}
	for _, m := range p.FindAll(ofEnvironment, -1) {
		for _, d := range withDefault.FindAllSubmatchIndex(p.Code[m[2]:m[3]], maxAssignments) {
			add(string(p.Code[m[2]+d[2]:m[2]+d[3]]), m[2]+d[2], p.argument(m[2]+d[1]))
		}
	}
	return p.assignments
}

// isParameter reports whether a match of assignmentHead, whose value ends at an offset, is the parameter of a function:
// a caller may give another value than its default.
func (p *pass) isParameter(match []int, end int) bool {
	end = skip(p.Code, end, space)
	return end < len(p.Code) && (p.Code[end] == ',' || p.Code[end] == ')') &&
		!declares.Match(p.Code[match[0]:match[1]])
}

// declares is in the declaration of a variable.
var declares = regexp.MustCompile(`\b(?:const|let|var)\b`)

func isStatement(name string) bool {
	return slices.Contains(statements, name)
}

// value returns the span of an expression that begins at an offset. A line that ends with an operator, or is followed
// by one that begins with an operator, goes on.
func (p *pass) value(from int) source.Span {
	at := from
	for {
		at = p.Until(at, ";,\n")
		if at >= len(p.Code) || p.Code[at] != '\n' {
			break
		}
		next := bytes.TrimLeft(p.Code[at:min(len(p.Code), at+maxIndentation)], space)
		before := bytes.TrimRight(p.Code[from:at], space)
		goesOn := len(next) > 0 && strings.IndexByte("?:|&.", next[0]) >= 0 ||
			len(before) > 0 && strings.IndexByte("?:|&", before[len(before)-1]) >= 0
		if !goesOn {
			break
		}
		at++
	}
	return p.Trim(source.Span{From: from, To: at})
}

// maxIndentation is how many bytes behind the end of a line are searched for an operator.
const maxIndentation = 80

// eachReturn yields the values that the body of a function returns, from the offset behind its opening bracket. A long
// function computes more than a setting.
func (p *pass) eachReturn(body int, yield func(source.Span)) {
	end := p.Until(body, "")
	if end >= len(p.Code) || p.Code[end] != '}' {
		return
	}
	for _, m := range returnValue.FindAllIndex(p.Code[body:end], maxAssignments) {
		yield(p.value(body + m[1]))
	}
}

// declarations returns the values of the names of the source. A name that has several values is left out, unless the
// others come from the environment or the command line: then the one that is written is the default.
func (p *pass) declarations() *address.Names {
	if p.variables != nil {
		return p.variables
	}
	if p.bundled || len(p.Raw) > maxModule {
		p.variables = p.bundledDeclarations()
		return p.variables
	}
	p.variables = address.Read(p.Text, "")
	for _, a := range p.assigned() {
		p.variables.Declare(a.name, a.value)
	}
	p.variables.DeleteUnclear(func(name, value string) bool {
		return !fromOutside.MatchString(value) && !address.UsesName(value, name)
	})
	p.declareOptions()
	return p.variables
}

// bundledDeclarations returns the variables that are set only once, where they are declared. In a bundle many variables
// share one short name.
func (p *pass) bundledDeclarations() *address.Names {
	d := address.Read(p.Text, ",;\n", variableDeclaration)
	assignments := map[string]int{}
	for _, m := range p.FindAll(assignment, -1) {
		assignments[group(p.Text, assignment, m, "name")]++
	}
	d.DeleteFunc(func(name string) bool { return assignments[name] > 1 })
	return d
}
