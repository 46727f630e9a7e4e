package node

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// settings are the ports that the names of a module have: those of its variables and functions ("port"), of the fields
// of its classes ("Config.port") and of its object literals ("config.grpc.port"). The default export is "default", as
// the standard calls it, and what CommonJS exports as a whole is the same here.
type settings map[string]setting

// setting is the port that an expression states, or the names that it takes it from.
type setting struct {
	port int // address.UnknownPort where only the names may tell it
	line int
	// names are what the expression takes its value from.
	names []reference
	// isDefault says that the port is the one behind an operator: config.port || 50051. The names go first then.
	isDefault bool
}

// reference is a name of this module or of another, or the key of a setting that is asked for by a string.
type reference struct {
	module string // as the import writes it; "" for this module
	path   string // the name and its properties: config.grpc.port
	key    string // config.get('grpc.port')
}

const (
	// maxModule is the longest source, in bytes, whose settings are collected. Those of people are shorter.
	maxModule = 64 << 10
	// maxSettings is how many settings of one module are kept.
	maxSettings = 200
)

var (
	// aliasHead is the name that an expression begins with.
	aliasHead = regexp.MustCompile(`^(?:await\s+|new\s+)?(?P<name>[A-Za-z_$][\w$]*(?:\.[\w$]+)*)`)
	// defaultCall takes the default of a setting in schemas: z.coerce.number().default(50051), Joi, env-var.
	defaultCall = regexp.MustCompile(`\.default\(\s*`)
	// keyArgument is the key of a setting, the first argument of get.
	keyArgument = regexp.MustCompile("^(?:<[^()]*>)?\\(\\s*[\"'`]([\\w.:-]+)[\"'`]")
	// registeredNamespace is the namespace of settings of NestJS: registerAs('grpc', () => ({ ... })).
	registeredNamespace = regexp.MustCompile(`\bregisterAs\(\s*["'](?P<name> *)["']\s*,\s*`)
	// variableProperty is the property of a schema for an environment variable: GRPC_PORT: Joi.number().default(50051).
	variableProperty = regexp.MustCompile(`\b(?P<name>(?:[A-Z][A-Z0-9_]*_)?PORT)\s*:\s*`)
	exportDefault    = regexp.MustCompile(`\bexport\s+default\s+|\bmodule\.exports\s*=\s*|(?m)^\s*export\s*=\s*`)
	exportedName     = regexp.MustCompile(`\b(?:module\.)?exports\.(?P<name>[\w$]+)\s*=\s*`)
	reexport         = regexp.MustCompile(`\bexport\s*(?:\*(?:\s*as\s+[\w$]+)?|(?:type\s*)?\{[^{}]*\})\s*` +
		`from\s*["'](?P<module>[^"'\n]*)["']`)
	exportAs  = regexp.MustCompile(`\bexport\s*\{(?P<names>[^{}]*)\}`)
	classHead = regexp.MustCompile(`\bclass\s+(?P<name>[\w$]+)[^{};()]{0,200}\{`)
	// typedField is a parameter of a constructor that becomes a field, and its class: private config: GrpcConfig.
	typedField = regexp.MustCompile(`\b(?:private|public|protected|readonly)\s+` +
		`(?P<name>[\w$]+)\s*:\s*(?P<type>[A-Z][\w$]*)`)
)

// collectSettings returns the settings of the module.
func (p *pass) collectSettings() settings {
	if p.bundled || len(p.Raw) > maxModule {
		return nil
	}
	p.settings = settings{}
	count := map[string]int{}
	for _, a := range p.assigned() {
		count[a.name]++
	}
	for _, a := range p.assigned() {
		if _, isObject := p.object(a.value, 0); !isObject || count[a.name] == 1 {
			p.addSetting(a.name, a.value, 0)
		}
	}
	for _, m := range p.FindAll(registeredNamespace, -1) {
		p.addSetting("namespace."+group(p.Text, registeredNamespace, m, "name"), p.argument(m[1]), 0)
	}
	for _, m := range p.FindAll(variableProperty, maxSettings) {
		p.addSetting("schema."+group(p.Text, variableProperty, m, "name"), p.argument(m[1]), maxNesting)
	}
	for _, m := range p.FindAll(exportDefault, 1) {
		p.addSetting("default", p.value(m[1]), 0)
	}
	for _, m := range p.FindAll(exportedName, -1) {
		p.addSetting(group(p.Text, exportedName, m, "name"), p.value(m[1]), 0)
	}
	for _, m := range p.FindAll(typedField, -1) {
		p.addAlias(group(p.Text, typedField, m, "name"), group(p.Text, typedField, m, "type"))
	}
	for _, m := range p.FindAll(exportAs, -1) {
		for part := range strings.SplitSeq(group(p.Text, exportAs, m, "names"), ",") {
			if fields := strings.Fields(part); len(fields) == 3 {
				p.addAlias(fields[2], fields[0])
			}
		}
	}
	p.collectClasses()
	return p.settings
}

// collectClasses adds the fields and getters of classes.
func (p *pass) collectClasses() {
	for _, m := range p.FindAll(classHead, address.MaxListeners) {
		_, body := p.Arguments(m[1])
		class := group(p.Text, classHead, m, "name")
		for _, a := range p.assigned() {
			if body.Contains(a.at) {
				p.addSetting(class+"."+a.name, a.value, 0)
			}
		}
	}
}

// argument returns the span of the argument, or of the element, that begins at an offset.
func (p *pass) argument(from int) source.Span {
	each, _ := p.Arguments(from)
	return each[0]
}

// addSetting adds what an expression says of a name: the properties of an object literal, a port, or other names. A
// name that is set twice has no known value.
func (p *pass) addSetting(name string, value source.Span, depth int) {
	if depth > maxNesting || len(p.settings) >= maxSettings {
		return
	}
	if open, ok := p.object(value, depth); ok {
		p.addProperties(name, open, depth)
		return
	}
	s := p.stated(value)
	if m := aliasHead.FindSubmatchIndex(p.Code[value.From:value.To]); m != nil && s.port == address.UnknownPort {
		alias := string(p.Code[value.From+m[2] : value.From+m[3]])
		if r, ok := p.refersTo(alias); ok {
			s.names = append(s.names, r)
		}
		// What a method of an object returns, such as a schema that parses, has the properties of the object.
		if object := parent(alias); object != "" {
			if r, ok := p.refersTo(object); ok {
				s.names = append(s.names, r)
			}
		}
	}
	if s.port == address.UnknownPort && len(s.names) == 0 {
		return
	}
	if was, ok := p.settings[name]; ok && was.port != s.port {
		s = setting{port: address.UnknownPort, line: s.line}
	}
	p.settings[name] = s
}

// addAlias adds a name that is another one of the module, or of one that it imports.
func (p *pass) addAlias(name, of string) {
	if r, ok := p.refersTo(of); ok && name != of && len(p.settings) < maxSettings {
		if _, known := p.settings[name]; !known {
			p.settings[name] = setting{port: address.UnknownPort, names: []reference{r}}
		}
	}
}

// stated returns the port that an expression states, or the names that it takes it from.
func (p *pass) stated(value source.Span) setting {
	if m := defaultCall.FindIndex(p.Code[value.From:value.To]); m != nil {
		value = p.argument(value.From + m[1])
	}
	port := p.declarations().Port(value)
	s := setting{port: port.Number, line: p.Line(port.At), isDefault: port.Number != address.UnknownPort}
	for _, name := range p.declarations().NamesIn(value) {
		if r, ok := p.usedName(name); ok && !slices.Contains(s.names, r) {
			s.names = append(s.names, r)
		}
	}
	return s
}

// usedName returns what a name in an expression refers to.
func (p *pass) usedName(n address.Use) (reference, bool) {
	dotted := n.Dotted
	if method := dotted[strings.LastIndexByte(dotted, '.')+1:]; strings.HasPrefix(method, "get") {
		if key := keyArgument.FindStringSubmatch(n.After); key != nil {
			r, _ := p.refersTo(parent(dotted))
			r.key = key[1]
			return r, true
		}
	}
	return p.refersTo(dotted)
}

// refersTo returns what a dotted name refers to: a name of this module, or one of another module of the app.
func (p *pass) refersTo(dotted string) (reference, bool) {
	dotted = strings.TrimPrefix(dotted, "this.")
	root, rest, _ := strings.Cut(dotted, ".")
	switch root {
	case "", "process", "this", "Number", "parseInt", "String", "require":
		return reference{}, false
	}
	e, ok := p.imports[root]
	if !ok {
		return reference{path: dotted}, true
	}
	if !mayBeOwnModule(e.module) {
		return reference{}, false
	}
	return reference{module: e.module, path: strings.Trim(e.name+"."+rest, ".")}, true
}

// parent returns a dotted name without its last part.
func parent(dotted string) string {
	return dotted[:max(0, strings.LastIndexByte(dotted, '.'))]
}

// reexports returns the modules whose names the module exports as its own.
func (p *pass) reexports() []string {
	var modules []string
	for _, m := range p.FindAll(reexport, maxImports) {
		if module := group(p.Text, reexport, m, "module"); mayBeOwnModule(module) {
			modules = append(modules, module)
		}
	}
	return modules
}

// mayTellPort reports whether a source that does not speak of gRPC is worth reading for its settings: it exports
// something, and holds a number as long as a port's, or it makes a server of another module listen.
func mayTellPort(text []byte) bool {
	if len(text) > maxModule {
		return false
	}
	if bytes.Contains(text, []byte(".listen(")) {
		return true
	}
	if !bytes.Contains(text, []byte("export")) && !bytes.Contains(text, []byte("registerAs")) {
		return false
	}
	digits := 0
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case digits == 4 || digits == 5:
			if i == digits || !isNameByte(text[i-digits-1]) {
				return true
			}
			digits = 0
		default:
			digits = 0
		}
	}
	return bytes.Contains(text, []byte("export *")) || bytes.Contains(text, []byte("} from"))
}
