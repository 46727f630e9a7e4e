package node

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/language/node/ecmascript"
	"github.com/grpc-cnb/health-probe/detect/source"
)

const (
	// maxModule is the longest source, in bytes, whose declarations are collected. Those of people are shorter.
	maxModule = 64 << 10
	// maxSettings is how many declarations of one module are kept.
	maxSettings = 200
)

var (
	// aliasHead is the name that an expression begins with.
	aliasHead = regexp.MustCompile(`^(?:await\s+|new\s+)?(?P<name>[A-Za-z_$][\w$]*(?:\.[\w$]+)*)`)
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

// declare collects what other files may ask for: the names of variables and functions ("port"), of the fields of
// classes ("Config.port") and of object literals ("config.grpc.port"), and the keys of settings. The default export is
// "default", as the standard calls it, and what CommonJS exports as a whole is the same here.
func (p *pass) declare() {
	if p.bundled || len(p.Raw) > maxModule {
		return
	}
	count := map[string]int{}
	for _, a := range p.Assigned() {
		count[a.Name]++
	}
	for _, a := range p.Assigned() {
		if _, isObject := p.Object(a.Value, 0); a.Variable != "" {
			p.declares = append(p.declares, p.variables().Option(a.Name, a.Variable, a.Value))
		} else if !isObject || count[a.Name] == 1 {
			p.add(a.Name, a.Value, 0)
		}
	}
	for _, m := range p.FindAll(registeredNamespace, -1) {
		p.add("namespace."+p.Part(registeredNamespace, m, "name"), p.Element(m[1]), 0)
	}
	for _, m := range p.FindAll(variableProperty, maxSettings) {
		p.add("schema."+p.Part(variableProperty, m, "name"), p.Element(m[1]), ecmascript.MaxNesting)
	}
	for _, m := range p.FindAll(exportDefault, 1) {
		p.add("default", p.Value(m[1]), 0)
	}
	for _, m := range p.FindAll(exportedName, -1) {
		p.add(p.Part(exportedName, m, "name"), p.Value(m[1]), 0)
	}
	for _, m := range p.FindAll(typedField, -1) {
		p.addAlias(p.Part(typedField, m, "name"), p.Part(typedField, m, "type"))
	}
	for _, m := range p.FindAll(exportAs, -1) {
		for part := range strings.SplitSeq(p.Part(exportAs, m, "names"), ",") {
			if fields := strings.Fields(part); len(fields) == 3 {
				p.addAlias(fields[2], fields[0])
			}
		}
	}
	p.declareClasses()
	p.declareGiven()
	p.declareModule()
}

// declareClasses adds the fields and getters of classes.
func (p *pass) declareClasses() {
	for _, m := range p.FindAll(classHead, address.MaxListeners) {
		_, body := p.Arguments(m[1])
		class := p.Part(classHead, m, "name")
		for _, a := range p.Assigned() {
			if body.Contains(a.At) {
				p.add(class+"."+a.Name, a.Value, 0)
			}
		}
	}
}

// declareModule adds what the module exports as a whole: its default export, and the modules whose names are its own.
func (p *pass) declareModule() {
	var names []address.Name
	if len(p.declares) > 0 {
		names = append(names, address.Name{Module: address.ThisFile, Path: "default"})
	}
	for _, m := range p.FindAll(reexport, maxImports) {
		if module := p.Part(reexport, m, "module"); mayBeOwnModule(module) {
			names = append(names, address.Name{Module: module})
		}
	}
	if names != nil {
		p.declares = append(p.declares, address.Declaration{Value: address.Value{Names: names}})
	}
}

// add adds what an expression says of a name: the properties of an object literal, an address, or other names.
func (p *pass) add(name string, value source.Span, depth int) {
	if depth > ecmascript.MaxNesting || len(p.declares) >= maxSettings {
		return
	}
	if open, ok := p.Object(value, depth); ok {
		properties := p.Properties(open)
		for _, property := range properties {
			p.add(name+"."+property.Name, property.Value, depth+1)
		}
		return
	}
	v := p.value(value)
	full := strings.TrimSuffix(name, ".default")
	last := full[strings.LastIndexByte(full, '.')+1:]
	if hasDefault := full != name || defaultCall.Match(p.Code[value.From:value.To]); hasDefault &&
		variableKey.MatchString(last) {
		v.Certainty, v.Variable = min(v.Certainty, address.Default), last // a schema of environment variables
	}
	if p.isParsed(value) {
		v.Address = address.Address{} // the only port in the schema may be that of another property
	}
	if m := aliasHead.FindSubmatchIndex(p.Code[value.From:value.To]); m != nil && v.Port == 0 {
		alias := string(p.Code[value.From+m[2] : value.From+m[3]])
		// What a method of an object returns, such as a schema that parses, has the properties of the object.
		for _, of := range []string{alias, parent(alias)} {
			if n := p.refersTo(of); n != (address.Name{}) && !slices.Contains(v.Names, n) {
				v.Names = append(v.Names, n)
			}
		}
	}
	if v.Port == 0 && len(v.Names) == 0 {
		return
	}
	// The default of a setting that a schema describes is its value.
	name = strings.TrimSuffix(name, ".default")
	p.declares = append(p.declares, address.Declaration{Name: name, Value: v})
	if key := keyOf(name); key != "" {
		p.declares = append(p.declares, address.Declaration{Name: address.Key(key), Value: v})
	}
}

// isParsed reports whether an expression is what an object with properties, such as a schema, makes of the environment.
func (p *pass) isParsed(value source.Span) bool {
	code := p.Code[value.From:value.To]
	m := aliasHead.FindSubmatchIndex(code)
	if m == nil || !bytes.HasPrefix(code[m[1]:], []byte("(")) || !fromOutside.Match(code[m[1]:]) {
		return false
	}
	object := parent(string(code[m[2]:m[3]])) + "."
	has := func(d address.Declaration) bool { return strings.HasPrefix(d.Name, object) }
	return object != "." && slices.ContainsFunc(p.declares, has)
}

// addAlias adds a name that is another one of the module, or of one that it imports.
func (p *pass) addAlias(name, of string) {
	isKnown := func(d address.Declaration) bool { return d.Name == name }
	n := p.refersTo(of)
	isFull := len(p.declares) >= maxSettings
	if n == (address.Name{}) || name == of || isFull || slices.ContainsFunc(p.declares, isKnown) {
		return
	}
	p.declares = append(p.declares, address.Declaration{Name: name, Value: address.Value{Names: []address.Name{n}}})
}

var (
	// settingsObject is the name of a variable that holds all settings of an app.
	settingsObject = regexp.MustCompile(`^(?:default|namespace|(?i:(?:app)?(?:config|configuration|settings)))$`)
	variableKey    = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
)

// keyOf returns the key by which a setting may be asked for, or "": its path in an object of settings, or the name of
// an environment variable, whatever schema has it.
func keyOf(name string) string {
	object, key, _ := strings.Cut(name, ".")
	if settingsObject.MatchString(object) {
		return key
	}
	if last := name[strings.LastIndexByte(name, '.')+1:]; last != name && variableKey.MatchString(last) {
		return last
	}
	return ""
}

// parent returns a dotted name without its last part.
func parent(dotted string) string {
	return dotted[:max(0, strings.LastIndexByte(dotted, '.'))]
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
	if !declaresFor.In(text) && !startsServer(text) {
		return false
	}
	digits := 0
	for i, c := range text {
		switch {
		case c >= '0' && c <= '9':
			digits++
		case digits == 4 || digits == 5:
			if i == digits || !ecmascript.IsNameByte(text[i-digits-1]) {
				return true
			}
			digits = 0
		default:
			digits = 0
		}
	}
	return bytes.Contains(text, []byte("export *")) || bytes.Contains(text, []byte("} from"))
}

// declaresFor are in sources that other ones may ask for a port.
var declaresFor = source.NewKeywords("export", "registerAs")

// startsServer reports whether a source may give a port to a server of another module of the app: it imports one, and
// calls something that is named for servers or for gRPC.
func startsServer(text []byte) bool { return importsOwn.In(text) && ofServer.In(text) }

var (
	importsOwn = source.NewKeywords("'./", `"./`, "'../", `"../`, "'@/", `"@/`, "'~/", `"~/`)
	ofServer   = source.NewKeywords("erver(", "rpc", "Rpc", "RPC")
)
