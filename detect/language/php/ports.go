package php

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// callbackMethod is what follows the class in a callback: [Server::class, 'onRequest'].
var callbackMethod = lazyregexp.New(`^\s*,\s*['"]`)

// maxEnclosing is how many brackets around a callback are looked into for the port.
const maxEnclosing = 5

// hyperfListener returns the port of the server that a callback at an offset belongs to. It is in the innermost array
// around the callback that has a key "port".
func (p *pass) hyperfListener(at int) []finding.Finding {
	for range maxEnclosing {
		if _, at = p.Around(at, 0, ""); at < 0 {
			break
		}
		elements, all := p.Arguments(at + 1)
		options := map[string]source.Span{}
		for _, e := range elements {
			if key, _, ok := strings.Cut(string(p.Raw[e.From:e.To]), "=>"); ok {
				options[strings.Trim(strings.TrimSpace(key), `'"`)] = source.Span{From: e.From + len(key), To: e.To}
			}
		}
		if port, ok := options["port"]; ok {
			v := p.ValueOn(options["host"], port)
			return append([]finding.Finding{finding.ListenerAt(v)}, p.swooleSecurity(all)...)
		}
	}
	return nil
}

// openSwooleListener returns the address of new Server(host, port, mode, socket type), from the offset after the
// class, and its security.
func (p *pass) openSwooleListener(from int) []finding.Finding {
	if from < len(p.Code) && p.Code[from] == '(' {
		if arguments, all := p.Arguments(from + 1); len(arguments) > 1 {
			v := p.ValueOn(arguments[0], arguments[1])
			return append([]finding.Finding{finding.ListenerAt(v)}, p.swooleSecurity(all)...)
		}
	}
	return []finding.Finding{finding.ListenerAt(p.Nothing(from))}
}

// global returns what a name that the source does not declare may be in others: the property or the constant of a
// class, as Class.name.
func (p *pass) global(u address.Use) address.Name {
	parts := strings.FieldsFunc(u.Dotted, func(r rune) bool { return strings.ContainsRune("->:", r) })
	if parts[0] == "this" || parts[0] == "self" || parts[0] == "static" {
		parts = parts[1:]
	}
	if len(parts) != 2 {
		return address.Name{}
	}
	class := parts[0]
	if !strings.Contains(u.Dotted, "::") {
		class = p.classOf(parts[0], u.At)
	}
	if class == "" {
		return address.Name{}
	}
	return address.Name{Path: class + "." + parts[1]}
}

var (
	newObject = lazyregexp.New(`^new\s+(?P<class>[\w\\]+)`)
	// typed is a variable or a property with its class: private readonly GrpcConfig $config.
	typed = lazyregexp.New(`\b(?P<class>[A-Z][\w\\]*)\s+\$(?P<name>\w+)`)
)

// classOf returns the class of a variable, without its namespace, or "".
func (p *pass) classOf(variable string, at int) string {
	for _, value := range p.Values(variable, at) {
		if m := newObject.FindSubmatch(p.Code[value.From:value.To]); m != nil {
			return baseName(string(m[1]))
		}
	}
	for _, m := range p.FindAll(typed, -1) {
		if name, _ := p.Group(typed, m, "name"); name == variable {
			class, _ := p.Group(typed, m, "class")
			return baseName(class)
		}
	}
	return ""
}

func baseName(class string) string { return class[strings.LastIndexByte(class, '\\')+1:] }

var (
	// assignment gives a variable, a property or a constant its value.
	assignment = lazyregexp.New(`(?:\$(?:this->)?|\bself::\$|\bconst\s+(?:[a-z]+\s+)?)` +
		`(?P<name>\w+)\s*(?:\?\?)?=\s*`)
	// definedConstant is define('PORT', 50051).
	definedConstant = lazyregexp.New(`\bdefine\(\s*["'](?P<name> *)["']\s*,\s*`)
	// getter is a method that may return a setting, up to its body.
	getter    = lazyregexp.New(`\bfunction\s+(?P<name>\w+)\(\s*\)\s*(?::\s*\??\w+\s*)?\{`)
	classHead = lazyregexp.New(`(?m)^\s*(?:(?:abstract|final|readonly)\s+)*` +
		`(?:class|enum|interface|trait)\s+(?P<name>\w+)`)
)

var (
	// setsProperties gives an object properties that the source does not name: $this->$name = $value.
	setsProperties = lazyregexp.New(`\$(?P<of>\w+)->(?:\$\w+|\{[^{}\n]*\})\s*=[^=>]`)
	// readsArray is in a value that has elements which the source does not name.
	readsArray = lazyregexp.New(
		`\b(?:array_(?:merge|replace)\w*|json_decode|yaml_parse\w*|parse_ini_\w+|unserialize)\(`)
	// property is the declaration of a property, and ownProperty the use of one.
	property = lazyregexp.New(`\b(?:public|protected|private|var|readonly|static)\s+` +
		`(?:\??[\w\\|]+\s+){0,3}\$(?P<name>\w+)`)
	ownProperty = lazyregexp.New(`\$this->(?P<name>\w+)\s*(?:\?\?)?=[^=>]`)
)

// global names the variables of the script that a function sets.
var global = lazyregexp.New(`\bglobal\s+(?P<names>\$\w+(?:\s*,\s*\$\w+)*)`)

// fromOutside is in a value that the environment or the command line gives.
var fromOutside = lazyregexp.New(`\bgetenv\b|\benv\b|_ENV\b|_SERVER\b|\bargv\b|\boptions\b`)

// namesIn returns the names in a source.
func namesIn(t *source.Text) *address.Names {
	d := address.Read(t, ";,", assignment, definedConstant)
	d.AssignGlobal(global)
	for _, m := range t.FindAll(getter, -1) {
		end := t.Until(m[1], "")
		if end >= len(t.Code) || t.Code[end] != '}' {
			continue // a long method computes more than a setting
		}
		name, _ := t.Group(getter, m, "name")
		for _, value := range t.Returns(m[1]) {
			d.Declare(name, value)
		}
	}
	var read []string // names that have what a file or another array has too
	for _, m := range t.FindAll(assignment, -1) {
		if value := (source.Span{From: m[1], To: t.Until(m[1], ";")}); readsArray.MatchString(t.Slice(value)) {
			name, _ := t.Group(assignment, m, "name")
			read = append(read, name)
		}
	}
	d.DeleteFunc(func(name string) bool { return slices.Contains(read, name) })
	d.DeleteUnclear(func(name, value string) bool {
		return !fromOutside.MatchString(value) && !address.UsesName(value, name)
	})
	if t.Matches(setsProperties) {
		properties := append(t.Names(property), t.Names(ownProperty)...)
		d.DeleteFunc(func(name string) bool { return slices.Contains(properties, name) })
	}
	d.Global = (&pass{d}).global
	return d
}

// filled returns that the objects of other classes get properties which the source does not name.
func (p *pass) filled() []address.Declaration {
	var found []address.Declaration
	for _, m := range p.FindAll(setsProperties, address.MaxListeners) {
		variable, _ := p.Group(setsProperties, m, "of")
		if class := p.classOf(variable, m[0]); class != "" {
			found = append(found, address.AnyOf(class))
		}
	}
	return found
}

// properties returns the addresses of the properties, the constants and the getters of the classes of the source.
func (p *pass) properties() []address.Declaration {
	found := p.filled()
	classes := p.FindAll(classHead, address.MaxListeners)
	for _, pattern := range []*lazyregexp.Regexp{assignment, getter} {
		in := 0
		for _, m := range p.FindAll(pattern, -1) {
			for in < len(classes) && classes[in][0] <= m[0] {
				in++
			}
			if in == 0 || len(found) > maxFindings {
				continue
			}
			member, _ := p.Group(pattern, m, "name")
			class, _ := p.Group(classHead, classes[in-1], "name")
			for _, value := range p.Values(member, m[1]) {
				if d := p.Variable(class+"."+member, value); d.Certainty != address.Unknown {
					found = append(found, d)
				}
			}
		}
	}
	return found
}
