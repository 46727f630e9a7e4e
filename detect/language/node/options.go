package node

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	// optionCall is an option of the command line with its description: option('port', { ... }) of yargs,
	// option('-p, --port <port>', 'where to listen', '50051') of commander.
	optionCall = regexp.MustCompile(`\.(?:option|requiredOption)\(\s*["'](?P<names> *)["']\s*,\s*`)
	// optionName is the name of an option, also of one without a description.
	optionName = regexp.MustCompile(`(?:\.(?:option|requiredOption)|\bnew\s+Option)\(\s*["'](?P<names> *)["']`)
	// optionAlias is a short name of an option.
	optionAlias = regexp.MustCompile(`\b(?:alias|short)\s*:\s*["']([\w-]+)["']`)
	// longOption is the long name of an option in commander's words.
	longOption = regexp.MustCompile(`--([\w-]+)`)
	// defaultProperty is the default of an option of yargs, of parseArgs of node:util and of convict.
	defaultProperty = regexp.MustCompile(`\bdefault\s*:\s*`)
	// describedOption is an option of an object that describes options: port: { type: 'string', default: '50051' }.
	describedOption = regexp.MustCompile(`["']?\b(?P<name>[\w$]+)["']?\s*:\s*\{`)
	// defaultsObject holds the defaults of all options: minimist(argv, { default: { port: 50051 } }), by whatever name
	// minimist is imported.
	defaultsObject = regexp.MustCompile(
		`\b(?P<name>[\w$]+)\([^;{}]{0,100}\{(?:[^{}]|\{[^{}]*\}){0,200}?\bdefault\s*:\s*\{`)
	defaultMethod = regexp.MustCompile(`\.default\(\s*["'](?P<name> *)["']\s*,\s*`)
)

// declareOptions declares the options of the command line, with their defaults, as fields of whatever holds them.
func (p *pass) declareOptions() {
	for _, m := range p.FindAll(optionName, address.MaxListeners) {
		_, all := p.Arguments(m[1])
		p.declareFlags(p.Part(optionName, m, "names"), string(p.Raw[all.From:all.To]))
	}
	for _, m := range p.FindAll(optionCall, address.MaxListeners) {
		name := p.Part(optionCall, m, "names")
		if long := longOption.FindStringSubmatch(name); long != nil {
			p.declareLastArgument(long[1], m[1])
		} else if value, ok := p.Property(p.Element(m[1]), defaultProperty); ok {
			p.declareOption(name, value)
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
		if value, ok := p.Property(all, defaultProperty); ok {
			p.declareOption(p.Part(describedOption, m, "name"), value)
		}
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

// declareLastArgument declares an option of commander: its default is the third argument, or the fourth if a
// function that parses it stands before. The arguments are given from the second on.
func (p *pass) declareLastArgument(name string, from int) {
	if each, _ := p.Arguments(from); len(each) > 1 {
		p.declareOption(name, each[len(each)-1])
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

var dashed = regexp.MustCompile(`-+(\w)`)

// camelCase returns the name that a parser of options gives one with dashes: grpcPort for grpc-port.
func camelCase(name string) string {
	return dashed.ReplaceAllStringFunc(name, func(s string) string { return string(s[len(s)-1] &^ 0x20) })
}
