package jvm

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// What an app gives a field goes before the field's default: server.setPort(50051), server.port = 50051 and
// GrpcServer().apply { port = 50051 }, which Kotlin and Scala compile to calls of the same setter. All of them are
// declared as what calls give to that setter.

var (
	// mutableFields are fields with a default that may be given another value, by the extension of the source.
	mutableFields = map[string]*lazyregexp.Regexp{
		".java": lazyregexp.New(`(?m)(?:^|[;{}])[ \t]*(?P<modifiers>(?:@\w+(?:\([^()]*\))?\s+)*(?:[a-z]+\s+)*?)` +
			`(?:int|short|Integer|String)\s+(?P<name>\w*[pP](?:ort|ORT)\w*)\s*=\s*`),
		".kt": lazyregexp.New(`(?P<modifiers>(?:\b[a-z]+[ \t]+)*\bva[lr])[ \t]+` +
			`(?P<name>\w*[pP](?:ort|ORT)\w*)` + typeOf + `=\s*`),
		".scala": lazyregexp.New(`(?P<modifiers>(?:\b[a-z]+(?:\[\w+\])?[ \t]+)*)\bvar[ \t]+` +
			`(?P<name>\w*[pP](?:ort|ORT)\w*)` + typeOf + `=\s*`),
	}
	// constantField is in the modifiers of one that never changes, openField of one that a subclass may have otherwise,
	// and hiddenField of one that other classes do not see.
	constantField = lazyregexp.New(`\b(?:final|val)\b`)
	openField     = lazyregexp.New(`\bopen\b`)
	hiddenField   = lazyregexp.New(`\bprivate\b`)
	// generatesSetters is an annotation by which Lombok writes the setters of a class.
	generatesSetters = lazyregexp.New(`@(?:Setter|Data|Builder|With)\b`)
	// propertyParameter is a parameter of a constructor that is a field which may change.
	propertyParameter = lazyregexp.New(`(?P<modifiers>(?:\b[a-z]+\s+)*)\bvar\s+(?P<name>\w+)`)

	// setter is the name of a method that gives a field a value, as one of the field's own name does.
	setter = source.Exactly(`(?:set|with)?\w*[pP]ort`)
	// setterCall is a call of one by an object, or in a chain of calls.
	setterCall = lazyregexp.New(
		`(?:\b(?P<object>\w+)|[)\]}])\s*\??\.\s*(?P<name>(?:set|with)\w*Port|\w*[pP]ort)\s*\(\s*[^)\s]`)
	// fieldSet is an assignment to the field of an object.
	fieldSet = lazyregexp.New(`\b(?P<object>\w+)\s*\??\.\s*(?P<name>\w*[pP](?:ort|ORT)\w*)\s*=\s*[^=\s]`)
	// chainRoot makes an object whose methods are called at once, or its builder.
	chainRoot = lazyregexp.New(
		`(?:\bnew\s+|(?:^|[^\w.]))(?:\w+\.)*?(?P<class>[A-Z]\w*)(?P<builder>\s*\.\s*\w*[bB]uilder)?` +
			typeArguments + `\(`)
	chainLink = lazyregexp.New(`^\s*\??\.\s*(\w+)\s*\(`)
	// overriding is a field of a subclass.
	overriding = lazyregexp.New(`\boverride\s+va[lr]\s+(?P<name>\w*[pP]ort\w*)` + typeOf + `=\s*`)
	// assignedField is an assignment to a field in a method of its class.
	assignedField = lazyregexp.New(`(?:^|[^.\w])(?:this\s*\.\s*)?(?P<name>\w*[pP]ort\w*)\s*=\s*[^=\s]`)
	// starts are methods whose calls are declared as those of functions that start something are.
	starts = lazyregexp.New(`^(?:start|run|serve|launch)`)
	// block sets fields of an object that stands before it.
	block = lazyregexp.New(`\b(?P<object>\w+)(?:\s*\([^(){}]*\))?\s*\??\.\s*(?:apply|also|run|let)\s*\{|` +
		`\bwith\s*\(\s*(?P<object>\w+)[^{}]*\)\s*\{`)
	setInBlock = lazyregexp.New(`(?:\bit\s*\.\s*|[{;\n]\s*)(?P<name>\w*[pP]ort\w*)\s*=\s*[^=\s]`)
)

// maxLinks is how many calls of a chain are looked at.
const maxLinks = 32

// setterOf is the setter that Java, Kotlin and Scala have for a field.
func setterOf(field string) string { return "set" + strings.ToUpper(field[:1]) + field[1:] }

// field is a field of a class that other files may give another value than its default.
type field struct {
	class, name string
	at          source.Span    // its declaration, up to the default
	by          []address.Name // what other files may give it
}

// declareFields says of the fields of classes what other files may give them.
func (n *names) declareFields() {
	pattern := mutableFields[n.ext]
	for _, m := range n.text.FindAll(pattern, maxMembers) {
		f := field{class: n.ownerAt(m[0]), at: source.Span{From: m[0], To: m[1]}}
		f.name, _ = n.text.Group(pattern, m, "name")
		modifiers, _ := n.text.Group(pattern, m, "modifiers")
		isConstant := constantField.MatchString(modifiers) && !openField.MatchString(modifiers)
		isMember := f.class == "" || n.isInBody(m[2*pattern.SubexpIndex("name")])
		if f.class == "" && n.ext != ".kt" || isConstant || !isMember {
			continue
		}
		f.by = n.givers(f.class, f.name, !hiddenField.MatchString(modifiers))
		n.read.GivenElsewhere(f.name, f.at, f.by)
		n.fields = append(n.fields, f)
	}
}

// ownerAt returns the type that has what is declared at an offset, "" for what is declared outside of all types.
func (n *names) ownerAt(at int) string {
	class := n.typeAt(at)
	if n.ext == ".kt" && n.text.Indented(n.text.LogicalLine(at)) == 0 && (class == "" || !n.isInBody(at)) {
		return ""
	}
	return class
}

// givenTo returns the names of what other files may give a member of a class.
func (n *names) givenTo(class, member string) []address.Name {
	for _, f := range n.fields {
		if f.class == class && f.name == member {
			return f.by
		}
	}
	return nil
}

// propertyGivers returns the names of what other files may give the field that a parameter of a constructor is, among
// all parameters of the class.
func (n *names) propertyGivers(class, parameter string, all source.Span) []address.Name {
	for _, m := range propertyParameter.FindAllStringSubmatch(n.text.Slice(all), maxMembers) {
		if m[2] == parameter && isPortName.MatchString(parameter) && startsWithCapital.MatchString(class) {
			return n.givers(class, parameter, !hiddenField.MatchString(m[1]))
		}
	}
	return nil
}

// assigned declares what the source gives to fields by their names alone: methods of the class, other than setters and
// constructors, and what lies outside of methods. What Kotlin declares outside of types may be that of another file. In
// other blocks the fields are those of the objects before them.
func (m *members) assigned(others []source.Span) {
	for _, match := range m.text.FindAll(assignedField, maxMembers) {
		name, _ := m.text.Group(assignedField, match, "name")
		at := match[2*assignedField.SubexpIndex("name")]
		isOther := func(in source.Span) bool { return in.Contains(at) }
		if m.isArgument(at) || m.isDeclaration(at) || slices.ContainsFunc(others, isOther) {
			continue
		}
		class := m.typeAt(at)
		method := m.methodAround(match[1])
		switch {
		case m.givenTo(class, name) != nil:
			if method != class && !setter.MatchString(method) && !starts.MatchString(method) {
				m.gives(class, setterOf(name), m.valueAt(match[1]-1))
			}
		case m.ext == ".kt" && !m.isDeclared(name):
			m.gives("", setterOf(name), m.valueAt(match[1]-1))
		}
	}
}

// isArgument reports whether what begins at an offset is an argument that is given by its name.
func (n *names) isArgument(at int) bool {
	depth := 0
	for i := at - 1; i >= max(0, at-maxArguments); i-- {
		switch n.text.Code[i] {
		case ')', '}':
			depth++
		case '(', '{':
			if depth == 0 {
				return n.text.Code[i] == '('
			}
			depth--
		}
	}
	return false
}

// maxArguments is how many bytes of arguments may stand before one that is given by its name.
const maxArguments = 2000

// declaringWord stands before a name that is declared.
var declaringWord = lazyregexp.New(`\b(?:va[lr]|int|short|Integer|String|def)\s+$`)

func (n *names) isDeclaration(at int) bool {
	return declaringWord.Match(n.text.Code[max(0, at-maxModifier):at])
}

// maxModifier is how many bytes may stand before a name that is declared, with the word that declares it.
const maxModifier = 40

// isDeclared reports whether the source declares a name, in a type or a function, or as a parameter.
func (n *names) isDeclared(name string) bool {
	for at := range n.text.Words(name) {
		after := strings.TrimLeft(string(n.text.Code[at+len(name):min(len(n.text.Code), at+len(name)+2)]), " ")
		isTop := n.text.Indented(n.text.LogicalLine(at)) == 0
		if (n.isDeclaration(at) || strings.HasPrefix(after, ":")) && !isTop {
			return true
		}
	}
	return false
}

// methodAround returns the name of the innermost function with parameters around an offset, "" for none.
func (n *names) methodAround(at int) string {
	name, innermost := "", source.Span{}
	for _, m := range n.text.FindAll(parameters, maxValues) {
		if m[0] > at {
			break
		}
		_, all := n.text.Arguments(m[2*parameters.SubexpIndex("all")])
		body := n.bodyAfter(m[1], all)
		if body.Contains(at) && !all.Contains(at) && (name == "" || body.Len() < innermost.Len()) {
			name, innermost = n.callable(m), body
		}
	}
	return name
}

// givers returns the names of what other files may give a field of a class, which they see or which has a setter. The
// class of an object is not always known.
func (n *names) givers(class, field string, isSeen bool) []address.Name {
	capital := strings.ToUpper(field[:1]) + field[1:]
	var all []address.Name
	for _, method := range []string{"set" + capital, "with" + capital, field} {
		isOwn := method == "set"+capital
		if isOwn || n.defines(method) {
			all = append(all, address.Name{Path: address.ArgumentName(class+"."+method, "0")})
			if isSeen || method == field || n.defines(method) || n.text.Matches(generatesSetters) {
				all = append(all, address.Name{Path: address.ArgumentName("."+method, "0")})
			}
		}
	}
	return all
}

// defines reports whether the source defines a method, which no object stands before.
func (n *names) defines(method string) bool {
	for at := range n.text.Words(method) {
		end := at + len(method)
		isMember := at > 0 && n.text.Code[at-1] == '.'
		if !isMember && end+1 < len(n.text.Code) && n.text.Code[end] == '(' && n.text.Code[end+1] != ')' {
			return true
		}
	}
	return false
}

// isInBody reports whether what is declared at an offset is a member of the type that is declared last before it.
func (n *names) isInBody(at int) bool {
	start, depth := 0, 0
	for _, declared := range n.typesOfFile() {
		if declared[0] > at {
			break
		}
		start = declared[1]
	}
	for _, c := range n.text.Code[start:at] {
		switch c {
		case '{', '(':
			depth++
		case '}', ')':
			depth--
		}
	}
	return depth == 1
}

// setters declares what the source gives to the fields of objects, of which it names the class or not.
func (m *members) setters() {
	inChain := m.chains()
	for _, match := range m.text.FindAll(setterCall, maxCalls) {
		object, _ := m.text.Group(setterCall, match, "object")
		name, _ := m.text.Group(setterCall, match, "name")
		if at := match[2*setterCall.SubexpIndex("name")]; !slices.Contains(inChain, at) {
			value, _ := m.values().Argument(match[1]-1, 0)
			m.gives(m.ownerOf(object), name, value)
		}
	}
	for _, match := range m.text.FindAll(fieldSet, maxMembers) {
		object, _ := m.text.Group(fieldSet, match, "object")
		name, _ := m.text.Group(fieldSet, match, "name")
		if object != "this" && object != "it" {
			m.gives(m.ownerOf(object), setterOf(name), m.valueAt(match[1]-1))
		}
	}
	for _, match := range m.text.FindAll(overriding, maxMembers) {
		name, _ := m.text.Group(overriding, match, "name")
		m.gives("", setterOf(name), m.valueAt(match[1]))
	}
	var blocks []source.Span
	for _, match := range m.text.FindAll(block, maxMembers) {
		object, _ := m.text.Group(block, match, "object")
		_, body := m.text.Arguments(match[1])
		blocks = append(blocks, body)
		code := m.text.Code[match[1]-1 : body.To]
		for _, of := range setInBlock.FindAllSubmatchIndex(code, maxMembers) {
			m.gives(m.ownerOf(object), setterOf(string(code[of[2]:of[3]])), m.valueAt(match[1]-1+of[1]-1))
		}
	}
	m.assigned(blocks)
}

// chains declares what chains of calls give to the objects that they begin with, and returns where their setters are.
func (m *members) chains() []int {
	var found []int
	for _, match := range m.text.FindAll(chainRoot, maxCalls) {
		class, _ := m.text.Group(chainRoot, match, "class")
		owners := []string{class}
		if _, isBuilder := m.text.Group(chainRoot, match, "builder"); isBuilder {
			owners = append(owners, class+"Builder", "Builder")
		}
		at := match[1]
		for range maxLinks {
			_, all := m.text.Arguments(at)
			end := min(all.To+1, len(m.text.Code))
			link := chainLink.FindSubmatchIndex(m.text.Code[end:])
			if link == nil {
				break
			}
			at = end + link[1]
			name := string(m.text.Code[end+link[2] : end+link[3]])
			if value, _ := m.values().Argument(at, 0); setter.MatchString(name) && value.From < value.To {
				found = append(found, end+link[2])
				for _, owner := range owners {
					m.gives(owner, name, value)
				}
			}
		}
	}
	return found
}

// ownerOf returns the class of an object, or the class that a name is; "" if it is not known.
func (m *members) ownerOf(object string) string {
	if object == "" || startsWithCapital.MatchString(object) {
		return object
	}
	return m.classOf(object)
}

func (m *members) valueAt(from int) source.Span {
	return m.text.Trim(source.Span{From: from, To: m.text.Until(from, ends[m.ext]+"}")})
}

// gives declares what a setter is given by an object of a class. One of a class that is not known may be any.
func (m *members) gives(class, setter string, value source.Span) {
	if value.From >= value.To {
		return
	}
	d := m.values().Declaration(address.ArgumentName(class+"."+setter, "0"), value)
	if class == "" {
		d.Value = m.values().Nothing(value.From)
	}
	m.found = append(m.found, d)
}
