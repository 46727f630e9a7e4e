package node

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/node/ecmascript"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

const (
	// maxModule is the longest source, in bytes, whose declarations are collected. Those of people are shorter.
	maxModule = 64 << 10
	// maxSettings is how many declarations of one module are kept.
	maxSettings = 200
)

var (
	// aliasHead is the name that an expression begins with.
	aliasHead = lazyregexp.New(`^(?:await\s+|new\s+)?(?P<name>[A-Za-z_$][\w$]*(?:\.[\w$]+)*)`)
	// registeredNamespace is the namespace of settings of NestJS: registerAs('grpc', () => ({ ... })).
	registeredNamespace = lazyregexp.New(`\bregisterAs\(\s*["'](?P<name> *)["']\s*,\s*`)
	// variableProperty is the property of a schema for an environment variable: GRPC_PORT: Joi.number().default(50051).
	variableProperty = lazyregexp.New(`\b(?P<name>(?:[A-Z][A-Z0-9_]*_)?PORT)\s*:\s*`)
	// schemaType is the type of such a property that has no default: z.coerce.number(), Joi.string().required(), port()
	// of envalid.
	schemaType = lazyregexp.New(
		`^(?:[\w$]+\s*\.\s*(?:coerce\s*\.\s*)?(?:number|string|int|integer|port)|port|num)\s*\(`)
	exportDefault = lazyregexp.New(asWhole)
	reexport      = lazyregexp.New(`\bexport\s*(?:\*(?:\s*as\s+[\w$]+)?|(?:type\s*)?\{[^{}]*\})\s*` +
		`from\s*["'](?P<module>[^"'\n]*)["']`)
	exportAs  = lazyregexp.New(`\bexport\s*\{(?P<names>[^{}]*)\}`)
	classHead = lazyregexp.New(`\bclass\s+(?P<name>[\w$]+)[^{};()]{0,200}\{`)
	// typedField is a parameter of a constructor that becomes a field, and its class: private config: GrpcConfig.
	typedField = lazyregexp.New(`\b(?:private|public|protected|readonly)\s+` +
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
	classes, filled := p.classes(), p.filled()
	for _, a := range p.Assigned() {
		before := len(p.declares)
		if filled.has(p, a) {
			continue
		}
		if _, isObject := p.Object(a.Value, 0); !isObject || count[a.Name] == 1 {
			p.addField(a.Name, a.Of, a.Value, 0)
		}
		for _, c := range classes {
			p.addFields(c, a, before)
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
	for _, m := range p.FindAll(typedField, -1) {
		p.addAlias(p.Part(typedField, m, "name"), p.Part(typedField, m, "type"))
	}
	for _, m := range p.FindAll(exportAs, -1) {
		for part := range strings.SplitSeq(p.Part(exportAs, m, "names"), ",") {
			switch fields := strings.Fields(part); len(fields) {
			case 1:
				p.addAlias(fields[0], fields[0]) // one that is imported
			case 3:
				p.addAlias(fields[2], fields[0])
			}
		}
	}
	p.declareGiven()
	p.declareFilled()
	p.declareVariables()
	p.declareModule()
}

var (
	// setsVariable sets an environment variable, and assignsVariables several.
	setsVariable = lazyregexp.New(
		`\bprocess\.env(?:\.(?P<name>[A-Za-z_]\w*)|\[["'](?P<key> *)["']\])\s*(?P<how>\?\?|\|\|)?=\s*(?:[^=>\s])`)
	assignsVariables = lazyregexp.New(`\bObject\.assign\(\s*process\.env\s*,\s*\{`)
	// ifUnset is the condition that a variable is not set, before what sets it.
	ifUnset = lazyregexp.New(`\bif\s*\(\s*(?:!\s*process\.env\.(\w+)|` +
		`process\.env\.(\w+)\s*={2,3}\s*(?:undefined|null))\s*\)\s*\{?\s*$`)
)

// maxCondition is how many bytes before what sets a variable are searched for its condition.
const maxCondition = 120

// declareVariables declares the environment variables that the source sets.
func (p *pass) declareVariables() {
	for _, m := range p.FindAll(setsVariable, maxSettings) {
		name := cmp.Or(p.Part(setsVariable, m, "name"), p.Part(setsVariable, m, "key"))
		value := p.Value(m[1] - 1)
		unset := ifUnset.FindSubmatch(p.Code[max(0, m[0]-maxCondition):m[0]])
		isDefault := p.Part(setsVariable, m, "how") != "" ||
			unset != nil && string(unset[1])+string(unset[2]) == name ||
			slices.Contains(address.Variables(p.Raw[value.From:value.To]), name)
		p.declares = append(p.declares, address.SetVariable(name, isDefault, p.value(value)))
	}
	for _, m := range p.FindAll(assignsVariables, 1) {
		for _, property := range p.Properties(m[1]) {
			p.declares = append(p.declares, address.SetVariable(property.Name, false, p.value(property.Value)))
		}
	}
}

// class is a class with its body.
type class struct {
	name string
	body source.Span
}

// classes returns the classes of the source.
func (p *pass) classes() []class {
	var all []class
	for _, m := range p.FindAll(classHead, address.MaxListeners) {
		_, body := p.Arguments(m[1])
		all = append(all, class{p.Part(classHead, m, "name"), body})
	}
	return all
}

// addFields adds what is declared of the field or the getter of a class, if it is one, by the name of the class.
func (p *pass) addFields(of class, a ecmascript.Assignment, before int) {
	if !of.body.Contains(a.At) {
		return
	}
	for _, d := range p.declares[before:] {
		if strings.HasPrefix(d.Name, a.Name) && len(p.declares) < maxSettings {
			d.Name = of.name + "." + d.Name
			p.declares = append(p.declares, d)
		}
	}
	if before == len(p.declares) {
		p.add(of.name+"."+a.Name, a.Value, 0)
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

var (
	// assigns takes an object and others whose properties go before its own.
	assigns = lazyregexp.New(
		`^(?:Object\.assign|(?:_|lodash)\.(?:merge|assign|extend)\w*|merge(?:Deep)?|deep[mM]erge|extend)\(`)
	isDotted = source.Exactly(`[\w$]+(?:\.[\w$]+)*`)
	calls    = lazyregexp.New(`[\w$]\(`)
)

// spreadInto returns what is spread into the object literal that opens before an offset, in a value, or assigned to it.
func (p *pass) spreadInto(value source.Span, open int) []source.Span {
	var all []source.Span
	elements, _ := p.Arguments(open)
	for _, e := range elements {
		if bytes.HasPrefix(p.Code[e.From:e.To], []byte("...")) {
			all = append(all, p.Trim(source.Span{From: e.From + len("..."), To: e.To}))
		}
	}
	if m := assigns.FindIndex(p.Code[value.From:value.To]); m != nil {
		others, _ := p.Arguments(value.From + m[1])
		all = append(all, others[1:]...)
	}
	return all
}

// replacing returns the field of one of several objects that goes before a property, which is the default then: "?" if
// that is not known, "" for none.
func (p *pass) replacing(property ecmascript.Property, spread []source.Span) string {
	for _, s := range slices.Backward(spread) {
		switch code := p.Slice(s); {
		case s.From < property.Value.To:
		case isDotted.MatchString(code):
			return code + "." + property.Name
		case calls.MatchString(code) || strings.Contains(code, property.Name):
			return "?"
		}
	}
	return ""
}

// add adds what an expression says of a name: the properties of an object literal, an address, or other names.
func (p *pass) add(name string, value source.Span, depth int) { p.addField(name, "", value, depth) }

// addField is [pass.add] of an expression that is the default of a field of something else, "" for none.
func (p *pass) addField(name, of string, value source.Span, depth int) {
	if depth > ecmascript.MaxNesting || len(p.declares) >= maxSettings {
		return
	}
	if open, ok := p.Object(value, depth); ok {
		spread := p.spreadInto(value, open)
		for _, property := range p.Properties(open) {
			by := p.replacing(property, spread)
			if of != "" {
				by = of + "." + property.Name
			}
			p.addField(name+"."+property.Name, by, property.Value, depth+1)
		}
		return
	}
	v := p.fieldValue(of, value)
	full := strings.TrimSuffix(name, ".default")
	last := full[strings.LastIndexByte(full, '.')+1:]
	if hasDefault := full != name || defaultCall.Match(p.Code[value.From:value.To]); hasDefault &&
		variableKey.MatchString(last) {
		v.Certainty, v.Variable = min(v.Certainty, address.Default), last // a schema of environment variables
	}
	if variableKey.MatchString(last) && v.Port == 0 && schemaType.Match(p.Code[value.From:value.To]) {
		v.Variable, v.Outside = last, true
	}
	if p.isParsed(value) {
		v.Address = address.Address{} // the only port in the schema may be that of another property
	}
	m := aliasHead.FindSubmatchIndex(p.Code[value.From:value.To])
	if m != nil && (v.Port == 0 || value.From+m[3] == value.To) {
		alias := string(p.Code[value.From+m[2] : value.From+m[3]])
		// What a method of an object returns, such as a schema that parses, has the properties of the object.
		for _, of := range []string{alias, parent(alias)} {
			if n := p.refersTo(of); n != (address.Name{}) && !slices.Contains(v.Names, n) {
				v.Names = append(v.Names, n)
			}
		}
	}
	if v.Port == 0 && v.Variable == "" && len(v.Names) == 0 {
		return
	}
	// The default of a setting that a schema describes is its value.
	name = strings.TrimSuffix(name, ".default")
	p.declares = append(p.declares, address.Declaration{Name: name, Value: v}.GivenBy(p.givenTo(name)))
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
	isItself := name == n.Path && n.Module == address.ThisFile
	if n == (address.Name{}) || isItself || len(p.declares) >= maxSettings || slices.ContainsFunc(p.declares, isKnown) {
		return
	}
	p.declares = append(p.declares, address.Declaration{Name: name, Value: address.Value{Names: []address.Name{n}}})
}

var (
	// settingsObject is the name of a variable that holds all settings of an app.
	settingsObject = lazyregexp.New(`^(?:default|namespace|(?i:(?:app)?(?:config|configuration|settings)))$`)
	variableKey    = lazyregexp.New(`^[A-Z][A-Z0-9_]*$`)
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
// something, and holds a number as long as a port's or reads a variable for one, or it makes a server of another module
// listen.
func mayTellPort(text []byte) bool {
	if len(text) > maxModule {
		return false
	}
	if bytes.Contains(text, []byte(".listen(")) || setsVariables.In(text) && setsVariable.Match(text) {
		return true
	}
	if address.ReadsVariable(text) && declaresFor.In(text) {
		return true
	}
	if !declaresFor.In(text) && !startsServer(text) && !(importsOwn.In(text) && fillsAny.In(text)) {
		return false
	}
	if address.HasPortLine(text) || address.LoadsSettings(text) || importsOwn.In(text) && fillsAny.In(text) {
		return true
	}
	return bytes.Contains(text, []byte("export *")) || bytes.Contains(text, []byte("} from"))
}

// declaresFor are in sources that other ones may ask for a port.
var declaresFor = source.NewKeywords("export", "registerAs")

// setsVariables are in sources that may set environment variables, or read them.
var setsVariables = source.NewKeywords("process.env")

// startsServer reports whether a source may give a port to a server of another module of the app: it imports one, and
// calls something that is named for servers or for gRPC.
func startsServer(text []byte) bool { return importsOwn.In(text) && ofServer.In(text) }

var (
	importsOwn = source.NewKeywords("'./", `"./`, "'../", `"../`, "'@/", `"@/`, "'~/", `"~/`)
	ofServer   = source.NewKeywords(
		"erver(", ".start(", " start(", "\nstart(", "Start(", " serve(", "\nserve(", "rpc", "Rpc", "RPC",
	)
)
