package node

import (
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// optionName is an option of the command line: option('port', { ... }) of yargs, option('-p, --port <port>', 'where
	// to listen', '50051') or new Option('-p, --port <port>') of commander.
	optionName = lazyregexp.New(`(?:\.(?:option|requiredOption)|\bnew\s+Option)\(\s*["'](?P<names> *)["']`)
	// optionAlias is a short name of an option.
	optionAlias = lazyregexp.New(`\b(?:alias|short)\s*:\s*["']([\w-]+)["']`)
	// longOption is the long name of an option in commander's words.
	longOption = lazyregexp.New(`--([\w-]+)`)
	// defaultProperty is the default of an option of yargs, of parseArgs of node:util and of convict.
	defaultProperty = lazyregexp.New(`\bdefault\s*:\s*`)
	// describedOption is an option of an object that describes options: port: { type: 'string', default: '50051' }.
	describedOption = lazyregexp.New(`["']?\b(?P<name>[\w$]+)["']?\s*:\s*\{`)
	// defaultsObject holds the defaults of all options: minimist(argv, { default: { port: 50051 } }), by whatever name
	// minimist is imported.
	defaultsObject = lazyregexp.New(
		`\b(?P<name>[\w$]+)\([^;{}]{0,100}\{(?:[^{}]|\{[^{}]*\}){0,200}?\bdefault\s*:\s*\{`)
	defaultMethod = lazyregexp.New(`\.default\(\s*["'](?P<name> *)["']\s*,\s*`)
)

// declareOptions declares the options of the command line, with their defaults, as fields of whatever holds them.
func (p *pass) declareOptions() {
	for _, m := range p.FindAll(optionName, address.MaxListeners) {
		name := p.Part(optionName, m, "names")
		each, all := p.Arguments(m[1])
		p.declareFlags(name, string(p.Raw[all.From:all.To]))
		if long := longOption.FindStringSubmatch(name); long == nil {
			p.declareDefault(name, all)
		} else if len(each) > minCommander {
			p.declareOption(long[1], each[len(each)-1]) // before it a function that parses it may stand
		}
	}
	for _, m := range p.FindAll(defaultMethod, address.MaxListeners) {
		p.declareFlags(p.Part(defaultMethod, m, "name"), "")
		p.declareOption(p.Part(defaultMethod, m, "name"), p.Element(m[1]))
	}
	if p.Imports.From(optionModule) {
		p.declareDescribed()
	}
}

// optionModule is what reads options that an object describes.
var optionModule = source.Exactly(`util|yargs(?:/.*)?|minimist|command-line-args|arg|meow|cac`)

// declareDescribed declares the options that an object describes.
func (p *pass) declareDescribed() {
	for _, m := range p.FindAll(describedOption, maxSettings) {
		_, all := p.Arguments(m[1])
		p.declareFlags(p.Part(describedOption, m, "name"), string(p.Raw[all.From:all.To]))
		p.declareDefault(p.Part(describedOption, m, "name"), all)
	}
	for _, m := range p.FindAll(defaultsObject, maxSettings) {
		if p.Imports[p.Part(defaultsObject, m, "name")].Module != "minimist" {
			continue
		}
		for _, property := range p.Properties(m[1]) {
			p.declareOption(property.Name, property.Value)
			p.declareFlags(property.Name, "")
		}
	}
}

// minCommander is how many arguments an option of commander has without a default: its names and its description.
const minCommander = 2

// declareDefault declares an option with the default in its description, if there is one.
func (p *pass) declareDefault(name string, description source.Span) {
	if value, ok := p.Property(description, defaultProperty); ok {
		p.declareOption(name, value)
	}
}

// declareOption declares an option as a field: args.port.
func (p *pass) declareOption(name string, value source.Span) {
	p.names.DeclareOption("."+camelCase(name), "", value)
}

// declareFlags says which flags give an option: those in commander's words, or its name, with hyphens and without, and
// the other names that stand in its description.
func (p *pass) declareFlags(names, description string) {
	flags := address.FlagsIn(names)
	name := names
	if long := longOption.FindStringSubmatch(names); long != nil {
		name = long[1]
	} else if flags == nil {
		flags = []string{name, address.Hyphenated(name), camelCase(name)}
		if m := optionAlias.FindStringSubmatch(description); m != nil {
			flags = append(flags, m[1])
		}
	}
	p.names.DeclareFlags("."+camelCase(name), flags...)
}

var dashed = lazyregexp.New(`-+(\w)`)

// camelCase returns the name that a parser of options gives one with dashes: grpcPort for grpc-port.
func camelCase(name string) string {
	return dashed.ReplaceAllStringFunc(name, func(s string) string { return string(s[len(s)-1] &^ 0x20) })
}
