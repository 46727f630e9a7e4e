package jvm

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// ports finds the ports that expressions of a source state. What they state in other files is found when all are read:
// the listener then has the references.
type ports struct {
	text     *source.Text
	ext      string
	declared *address.Names           // nil until an expression is read
	values   map[string][]source.Span // the values of names, as declarations match them
	lookups  int                      // how many functions were looked up
}

// declarations returns what the source declares.
func (p *ports) declarations() *address.Names {
	if p.declared != nil {
		return p.declared
	}
	p.declared, p.values = address.Read(p.text, ends[p.ext], declarations[p.ext]...), map[string][]source.Span{}
	for _, pattern := range declarations[p.ext] {
		at := pattern.SubexpIndex("value")
		for _, m := range p.text.FindAll(pattern, maxValues) {
			name, ok := p.text.Group(pattern, m, "name")
			switch {
			case !ok:
			case at >= 0:
				p.values[name] = append(p.values[name], source.Span{From: m[2*at], To: m[2*at+1]})
			default:
				p.values[name] = append(p.values[name], source.Span{From: m[1], To: p.text.Until(m[1], ends[p.ext])})
			}
		}
	}
	for _, m := range p.text.FindAll(portMethod, maxMembers) {
		name, _ := p.text.Group(portMethod, m, "name")
		for _, value := range returnedValues(p.text, m[1]) {
			p.declared.Declare(name, value)
			p.values[name] = append(p.values[name], value)
		}
	}
	return p.declared
}

const (
	// maxValues is how many declarations of one form are looked at for references.
	maxValues = 1000
	// maxFollowed is how many expressions are looked at for the references of one.
	maxFollowed = 16
	// maxExpression is how many bytes an expression has that is looked at.
	maxExpression = 400
)

// listener returns the finding of a server that listens where the arguments of a call say: the port of the first
// argument that states one, because a host may stand before it and credentials behind it.
func (p *ports) listener(arguments []source.Span) analyzer.Finding {
	port := p.declarations().FirstPort(arguments)
	r := references{ports: p, seen: map[string]bool{}, left: maxFollowed}
	for _, at := range arguments {
		r.follow(at)
	}
	if port.Number == address.UnknownPort && len(r.found) == 0 {
		port = p.parameter(arguments, &r)
	}
	f := analyzer.NewListener(p.text, port)
	f.ImportPath = strings.Join(r.found, " ")
	return f
}

var (
	// settingKey is a key of the settings that an expression asks for: "${grpc.port:9090}", getInt("grpc.port"),
	// @ConfigProperty(name = "grpc.port"). Where nothing else tells that it is one, it has several parts.
	settingKey = regexp.MustCompile(`\$\{([\w-]+(?:[.-][\w-]+)+)(?::[^}]*)?\}|` +
		`(?:^|[^.\w]|\w\.)(?:\w*[cC]onfig\w*|conf|env\w*|settings|\w*[pP]rop(?:s|erties)?)(?:\(\))?\s*\.\s*` +
		`(?:get\w*|property|requireProperty)\s*\(\s*"([\w.-]+)"|` +
		`\bname\s*=\s*"([\w-]+(?:\.[\w-]+)+)"`)
	// member is a constant or a method of another class: Settings.PORT, Settings.getPort().
	member = regexp.MustCompile(`\b([A-Z]\w*\.(?:[A-Z]\w*\.)*\w*[pP](?:ort|ORT)\w*)\b`)
	word   = regexp.MustCompile(`(?:^|[^.\w])([a-zA-Z_]\w*)`)
	// portNumber is a number that may be a port.
	portNumber = regexp.MustCompile(`\b\d{2,5}\b`)
)

// references collects what an expression refers to outside of its file, through the names that it has in it.
type references struct {
	*ports
	found []string // "key:grpc.port", "Settings.PORT", "Server#0"
	seen  map[string]bool
	left  int
}

func (r *references) add(reference string) {
	if !slices.Contains(r.found, reference) {
		r.found = append(r.found, reference)
	}
}

// follow looks at an expression and at the values of its names.
func (r *references) follow(at source.Span) {
	if r.left--; r.left < 0 || at.To-at.From > maxExpression {
		return
	}
	raw, code := r.text.Raw[at.From:at.To], r.text.Code[at.From:at.To]
	for _, m := range settingKey.FindAllSubmatch(raw, -1) {
		r.add(keyReference + string(m[1]) + string(m[2]) + string(m[3]))
	}
	if !portNumber.Match(code) {
		for _, m := range member.FindAllSubmatch(code, -1) {
			parts := strings.Split(string(m[1]), ".")
			r.add(strings.Join(parts[len(parts)-2:], "."))
		}
	}
	for _, m := range field.FindAllSubmatch(code, -1) {
		r.addField(string(m[1]), string(m[2]))
	}
	for _, m := range word.FindAllSubmatch(code, -1) {
		name := string(m[1])
		if r.seen[name] {
			continue
		}
		r.seen[name] = true
		for _, value := range r.values[name] {
			r.follow(value)
		}
	}
}

// field is a field of an object, or the method that returns it: properties.getPort(), settings.port.
var field = regexp.MustCompile(`\b([a-z]\w*)\s*\.\s*(\w*[pP]ort\w*)\b`)

// addField adds the field of an object whose class the source names: as @Class.field, for a class of settings.
func (r *references) addField(object, name string) {
	if r.lookups == maxLookups {
		return
	}
	r.lookups++
	typed := regexp.MustCompile(`\b([A-Z]\w*)\s+` + object + `\b|\b` + object + `\s*:\s*([A-Z]\w*)`)
	for _, m := range r.text.FindAll(typed, 1) {
		class := string(r.text.Code[max(0, m[2]):max(0, m[3])]) + string(r.text.Code[max(0, m[4]):max(0, m[5])])
		if getter, ok := strings.CutPrefix(name, "get"); ok && getter != "" {
			name = strings.ToLower(getter[:1]) + getter[1:]
		}
		r.add("@" + class + "." + name)
	}
}

// keyReference is what the reference to a key of the settings begins with.
const keyReference = "key:"

// parameters are those of a function or a constructor that is declared: Server(int port), class Server(val port: Int).
var parameters = regexp.MustCompile(`\b(?P<name>[A-Za-z_]\w*)\s*\((?P<all>[^()]*)\)\s*` +
	`(?::[^={;()]*|throws\s+[\w.,\s]+)?(?:[{=]|extends\b|\n)`)

// parameter returns the port that calls give to the parameter that a listener listens on. Calls in other files are
// references.
func (p *ports) parameter(arguments []source.Span, r *references) address.Port {
	for _, at := range arguments {
		name := strings.TrimPrefix(p.text.Slice(at), "this.")
		if !simpleName.MatchString(name) {
			continue
		}
		for _, m := range p.text.FindAll(parameters, maxValues) {
			callable, _ := p.text.Group(parameters, m, "name")
			all, _ := p.text.Group(parameters, m, "all")
			i := parameterIndex(all, name)
			if i < 0 || callable == "catch" || p.lookups == maxLookups {
				continue
			}
			p.lookups++
			if port, ok := p.argument(callable, m[0], i); ok {
				return port
			}
			if isType := callable[0] >= 'A' && callable[0] <= 'Z'; isType {
				r.add(callable + "#" + strconv.Itoa(i))
			}
		}
	}
	return address.Port{Number: address.UnknownPort, At: arguments[0].From}
}

// maxLookups is how many functions and constructors of one source are looked up: each is searched for in all of it.
const maxLookups = 8

var simpleName = regexp.MustCompile(`^[a-zA-Z_]\w*$`)

// parameterIndex returns the number of the parameter with a name, from 0, or -1: int port, port: Int.
func parameterIndex(all, name string) int {
	for i, one := range strings.Split(all, ",") {
		before, _, _ := strings.Cut(one, ":")
		fields := strings.Fields(before)
		if len(fields) > 0 && fields[len(fields)-1] == name {
			return i
		}
	}
	return -1
}

// argument returns the port that the calls of a function or a constructor in this file have as an argument. ok is
// false where there is no such call.
func (p *ports) argument(callable string, declaredAt, i int) (port address.Port, ok bool) {
	calls := regexp.MustCompile(`\b` + callable + `\s*\(`)
	for _, m := range p.text.FindAll(calls, address.MaxListeners) {
		if m[0] == declaredAt {
			continue
		}
		each, _ := p.text.Arguments(m[1])
		if i >= len(each) {
			continue
		}
		stated := p.declarations().Port(each[i])
		if stated.Number == address.UnknownPort || ok && stated.Number != port.Number {
			return address.Port{Number: address.UnknownPort, At: each[i].From}, true
		}
		port, ok = stated, true
	}
	return port, ok
}
