package ecmascript

import (
	"bytes"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Assignment is a value that the source gives a name: to a variable, to a field, or by what a function returns.
type Assignment struct {
	Name  string
	At    int // the offset of the statement
	Value source.Span
	// Of is the object's field that the name is taken from, "" for none: "options.port" of { port } = options. Without
	// a default the value is empty.
	Of string
}

// Taken is a name that is taken out of an object, with its property there and its default, which is empty for none.
type Taken struct {
	Name, Property string
	Default        source.Span
}

var (
	// assignmentHead is the beginning of an assignment or a declaration, up to the value.
	assignmentHead = lazyregexp.New(`(?m)(?:^|[;{})])[ \t]*(?:(?:export|const|let|var|private|public|protected|` +
		`static|readonly)\s+)*(?:this\.|(?:module\.)?exports\.)?` +
		`(?P<name>[A-Za-z_$][\w$]*)\s*(?:[?!]?:[^=;,(){}\n]{1,100})?=\s*`)
	// typedObject is the beginning of a declaration whose type lists the members of an object, and afterType what
	// stands between that list and the value.
	typedObject = lazyregexp.New(`\b(?:const|let|var)\s+(?P<name>[A-Za-z_$][\w$]*)\s*:\s*\{`)
	afterType   = lazyregexp.New(`^\}\s*=\s*`)
	// functionHead is the beginning of a function, a method or a getter, up to its body.
	functionHead = lazyregexp.New(`(?m)(?:\bfunction\s*|` +
		`^[ \t]*(?:(?:public|private|protected|static|async|get)\s+)*)` +
		`(?P<name>[A-Za-z_$][\w$]*)\s*\([^(){}]*\)\s*(?::[^(){};=\n]{1,100})?\{`)
	// arrowBody is the head of an arrow function with a body.
	arrowBody   = lazyregexp.New(`^(?:async\s+)?(?:\([^(){}]*\)|[\w$]+)\s*(?::[^={}]{0,100})?=>\s*\{`)
	returnValue = lazyregexp.New(`\breturn\b[ \t]*`)
	// takesOut takes names out of an object: const { PORT = 50051 } = process.env.
	takesOut = lazyregexp.New(`\{(?P<names>[^{}]*)\}\s*(?::[^=;(){}\n]{1,100})?=\s*(?:await\s+)?` +
		`(?P<of>[\w$]+(?:\??\.[\w$]+)*)`)
	// taken is one of them: a variable, the name that it gets, the sign of a default.
	taken = lazyregexp.New(`^([\w$]+)(?:\s*:\s*([\w$]+))?(\s*=\s*)?`)
	// statements are keywords that the head of a block begins with as a method does.
	statements = []string{"if", "for", "while", "switch", "catch", "with", "function"}
)

// maxAssignments is how many values of one name are looked at.
const maxAssignments = 16

// assignments returns the values of all names of the source, in its order.
func (s *Source) assignments() []Assignment {
	all := []Assignment{}
	count := map[string]int{}
	add := func(name string, at int, value source.Span) {
		if count[name]++; count[name] <= maxAssignments {
			all = append(all, Assignment{Name: name, At: at, Value: value})
		}
	}
	for _, m := range s.FindAll(assignmentHead, -1) {
		// What begins so is a comparison, or the parameter of a function.
		if m[1] == len(s.Code) || strings.IndexByte("=>", s.Code[m[1]]) >= 0 {
			continue
		}
		name, value := s.Part(assignmentHead, m, "name"), s.Value(m[1])
		if s.isParameter(m, value.To) {
			continue
		}
		add(name, m[2], value)
		if body := arrowBody.FindIndex(s.Code[value.From:value.To]); body != nil {
			s.eachReturn(value.From+body[1], func(returned source.Span) { add(name, m[2], returned) })
		}
	}
	for _, m := range s.FindAll(typedObject, maxAssignments) {
		_, members := s.Arguments(m[1])
		if sign := afterType.FindIndex(s.Code[members.To:min(len(s.Code), members.To+maxIndentation)]); sign != nil {
			add(s.Part(typedObject, m, "name"), m[2], s.Value(members.To+sign[1]))
		}
	}
	for _, m := range s.FindAll(functionHead, -1) {
		if name := s.Part(functionHead, m, "name"); !slices.Contains(statements, name) {
			s.eachReturn(m[1], func(returned source.Span) { add(name, m[2], returned) })
		}
	}
	return append(all, s.takenOut()...)
}

// takenOut returns the names that the source takes out of objects: { PORT = 50051, HOST: host } = process.env.
func (s *Source) takenOut() []Assignment {
	var all []Assignment
	for _, m := range s.FindAll(takesOut, maxAssignments) {
		of := strings.ReplaceAll(s.Part(takesOut, m, "of"), "?", "")
		if of == "require" {
			continue // an import
		}
		for _, t := range s.Taken(m[2]) {
			all = append(all, Assignment{Name: t.Name, At: m[2], Value: t.Default, Of: of + "." + t.Property})
		}
	}
	return all
}

// Taken returns the names in the pattern that opens before an offset: { port = 50051, host: address }.
func (s *Source) Taken(open int) []Taken {
	var all []Taken
	each, _ := s.Arguments(open)
	for _, e := range each {
		m := taken.FindSubmatchIndex(s.Code[e.From:e.To])
		if m == nil {
			continue
		}
		t := Taken{Property: string(s.Code[e.From+m[2] : e.From+m[3]]), Default: source.Span{From: e.To, To: e.To}}
		if t.Name = t.Property; m[4] >= 0 {
			t.Name = string(s.Code[e.From+m[4] : e.From+m[5]])
		}
		if m[6] >= 0 {
			t.Default.From = e.From + m[7]
		}
		all = append(all, t)
	}
	return all
}

// isParameter reports whether a match of assignmentHead, whose value ends at an offset, is the parameter of a function,
// or a part of one: a caller may give another value than its default.
func (s *Source) isParameter(match []int, end int) bool {
	end = skip(s.Code, end, space)
	if end < len(s.Code) && s.Code[end] == '}' {
		after := skip(s.Code, end+1, space)
		return after < len(s.Code) && strings.IndexByte("=:),", s.Code[after]) >= 0
	}
	return end < len(s.Code) && (s.Code[end] == ',' || s.Code[end] == ')') &&
		!declares.Match(s.Code[match[0]:match[1]])
}

// declares is in the declaration of a variable.
var declares = lazyregexp.New(`\b(?:const|let|var)\b`)

// Value returns the span of an expression that begins at an offset. A line that ends with an operator, or is followed
// by one that begins with an operator, goes on.
func (s *Source) Value(from int) source.Span {
	at := from
	for {
		at = s.Until(at, ";,\n")
		if at >= len(s.Code) || s.Code[at] != '\n' {
			break
		}
		next := bytes.TrimLeft(s.Code[at:min(len(s.Code), at+maxIndentation)], space)
		before := bytes.TrimRight(s.Code[from:at], space)
		goesOn := len(next) > 0 && strings.IndexByte("?:|&.", next[0]) >= 0 ||
			len(before) > 0 && strings.IndexByte("?:|&", before[len(before)-1]) >= 0
		if !goesOn {
			break
		}
		at++
	}
	return s.Trim(source.Span{From: from, To: at})
}

// maxIndentation is how many bytes after the end of a line are searched for an operator.
const maxIndentation = 80

// eachReturn yields the values that the body of a function returns, from the offset after its opening bracket. A long
// function computes more than a setting.
func (s *Source) eachReturn(body int, yield func(source.Span)) {
	end := s.Until(body, "")
	if end >= len(s.Code) || s.Code[end] != '}' {
		return
	}
	for _, m := range returnValue.FindAllIndex(s.Code[body:end], maxAssignments) {
		yield(s.Value(body + m[1]))
	}
}
