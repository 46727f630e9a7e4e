package php

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// callbackMethod is what follows the class in a callback: [Server::class, 'onRequest'].
var callbackMethod = regexp.MustCompile(`^\s*,\s*['"]`)

// maxEnclosing is how many brackets around a callback are looked into for the port.
const maxEnclosing = 5

// hyperfListener returns the port of the server that a callback at an offset belongs to. It is in the innermost array
// around the callback that has a key "port".
func (p *pass) hyperfListener(at int) []finding.Finding {
	for range maxEnclosing {
		if at = enclosingBracket(p.Code, at); at < 0 {
			break
		}
		elements, all := p.Arguments(at + 1)
		host := address.UnknownHost
		for _, e := range elements {
			if value, ok := p.isKey(e, "host"); ok {
				host = p.Host(value)
			}
		}
		for _, e := range elements {
			if where, ok := p.isKey(e, "port"); ok {
				v := p.Value(where)
				v.Host = cmp.Or(v.Host, host)
				return append([]finding.Finding{finding.ListenerAt(v)}, p.swooleSecurity(all)...)
			}
		}
	}
	return nil
}

// enclosingBracket returns the offset of the bracket that opens around an offset, or -1. It may read the whole text
// before the offset; maxFindings bounds how often.
func enclosingBracket(code []byte, at int) int {
	depth := 0
	for at--; at >= 0; at-- {
		switch code[at] {
		case ']', ')', '}':
			depth++
		case '[', '(', '{':
			if depth--; depth < 0 {
				return at
			}
		}
	}
	return -1
}

// openSwooleListener returns the address of new Server(host, port, mode, socket type), from the offset after the
// class, and its security.
func (p *pass) openSwooleListener(from int) []finding.Finding {
	if from < len(p.Code) && p.Code[from] == '(' {
		if arguments, all := p.Arguments(from + 1); len(arguments) > 1 {
			v := p.Value(arguments[1])
			v.Host = cmp.Or(v.Host, p.Host(arguments[0]))
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
	newObject = regexp.MustCompile(`^new\s+(?P<class>[\w\\]+)`)
	// typed is a variable or a property with its class: private readonly GrpcConfig $config.
	typed = regexp.MustCompile(`\b(?P<class>[A-Z][\w\\]*)\s+\$(?P<name>\w+)`)
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
	assignment = regexp.MustCompile(`(?:\$(?:this->)?|\bself::\$|\bconst\s+(?:[a-z]+\s+)?)` +
		`(?P<name>\w+)\s*(?:\?\?)?=\s*`)
	// definedConstant is define('PORT', 50051).
	definedConstant = regexp.MustCompile(`\bdefine\(\s*["'](?P<name> *)["']\s*,\s*`)
	// getter is a method that may return a setting, up to its body.
	getter      = regexp.MustCompile(`\bfunction\s+(?P<name>\w+)\(\s*\)\s*(?::\s*\??\w+\s*)?\{`)
	returnValue = regexp.MustCompile(`\breturn\b\s*`)
	classHead   = regexp.MustCompile(`(?m)^\s*(?:(?:abstract|final|readonly)\s+)*` +
		`(?:class|enum|interface|trait)\s+(?P<name>\w+)`)
)

// fromOutside is in a value that the environment or the command line gives.
var fromOutside = regexp.MustCompile(`\bgetenv\b|\benv\b|_ENV\b|_SERVER\b|\bargv\b|\boptions\b`)

// namesIn returns the names in a source.
func namesIn(t *source.Text) *address.Names {
	d := address.Read(t, ";,", assignment, definedConstant)
	for _, m := range t.FindAll(getter, -1) {
		end := t.Until(m[1], "")
		if end >= len(t.Code) || t.Code[end] != '}' {
			continue // a long method computes more than a setting
		}
		name, _ := t.Group(getter, m, "name")
		for _, r := range returnValue.FindAllIndex(t.Code[m[1]:end], address.MaxListeners) {
			from := m[1] + r[1]
			d.Declare(name, source.Span{From: from, To: t.Until(from, ";")})
		}
	}
	d.DeleteUnclear(func(name, value string) bool {
		return !fromOutside.MatchString(value) && !address.UsesName(value, name)
	})
	d.Global = (&pass{d}).global
	return d
}

// properties returns the addresses of the properties, the constants and the getters of the classes of the source.
func (p *pass) properties() []address.Declaration {
	var found []address.Declaration
	classes := p.FindAll(classHead, address.MaxListeners)
	for _, pattern := range []*regexp.Regexp{assignment, getter} {
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
				if d := p.Declaration(class+"."+member, value); d.Certainty != address.Unknown {
					found = append(found, d)
				}
			}
		}
	}
	return found
}
