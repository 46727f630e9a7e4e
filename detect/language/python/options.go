package python

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// optionCall declares an option of the command line: that of argparse, of click and typer, of Abseil, of Tornado.
var optionCall = lazyregexp.New(
	`(?:\.[ \t]*(?:add_argument|option)|\b(?:DEFINE_(?:integer|string|bool|boolean)|define))[ \t]*\(`)

// quotedName is an argument that names an option.
var quotedName = lazyregexp.New(`^["']([\w/-]+)["']$`)

// managementCommand is in sources of Django's commands, which get their options by key.
var managementCommand = source.NewKeywords("BaseCommand")

// maxOptions is how many options of a source are read.
const maxOptions = 128

var (
	// otherDefaults gives options other defaults: those of files, of a mapping, or of environment variables whose names
	// are not seen.
	otherDefaults = lazyregexp.New(
		`\b(?:default_config_files|default_map|auto_envvar_prefix|default_env)\b\s*["']?\s*[=:]|` +
			`\bset_defaults\(\s*\*\*|\bset_default\(\s*[^\s"']`)
	// setsDefault gives options other defaults by their names: set_defaults(port=1), FLAGS.set_default("port", 1).
	setsDefault = lazyregexp.New(`\bset_defaults\(|\bset_default\(\s*["'](?P<name> *)["']\s*,\s*`)
)

// readOptions returns the options of the command line by the names that the code reads them by: ".port" of args.port
// and FLAGS.port, "port" of the parameter that click gives to a function. The value of one without a default is empty.
func readOptions(t *source.Text) []address.NamedValue {
	var options []address.NamedValue
	isByKey, hasOthers, defaults := managementCommand.In(t.Raw), t.Matches(otherDefaults), defaultsSet(t)
	for _, m := range t.FindAll(optionCall, maxOptions) {
		library := string(t.Code[m[0]:m[1]])
		isClick := strings.Contains(library, ".") && !strings.Contains(library, "add_argument")
		name := optionName(t, m[1])
		if name == "" {
			continue
		}
		position := -1
		if strings.Contains(library, "DEFINE_") {
			position = 1
		}
		o := optionOf(t, name, m[1], position)
		if value, ok := defaults[name]; ok {
			o.Value = value
		}
		if hasOthers {
			o.Value.To = o.Value.From
		}
		if o.Flags == nil {
			o.Flags = definedFlag(library, name)
		}
		if !isClick {
			o.Name = "." + name
		}
		options = append(options, o)
		if isByKey {
			o.Name = address.Key("options." + name)
			options = append(options, o)
		}
	}
	return options
}

// defaultsSet returns the defaults that calls give to options, by their names.
func defaultsSet(t *source.Text) map[string]source.Span {
	set := map[string]source.Span{}
	for _, m := range t.FindAll(setsDefault, maxOptions) {
		each, _ := t.Arguments(m[1])
		if name, ok := t.Group(setsDefault, m, "name"); ok {
			set[name] = each[0]
			continue
		}
		for _, at := range each {
			if name, _, ok := strings.Cut(t.Slice(at), "="); ok {
				set[strings.TrimSpace(name)] = t.Trim(source.Span{From: at.From + len(name) + 1, To: at.To})
			}
		}
	}
	return set
}

// optionName returns the name of an option, whose call's arguments begin at an offset: its destination, the name
// without dashes, or its first long name.
func optionName(t *source.Text, from int) string {
	if destination, ok := t.Argument(from, -1, "dest"); ok {
		return strings.Trim(string(t.Raw[destination.From:destination.To]), `"'`)
	}
	name := ""
	arguments, _ := t.Arguments(from)
	for _, at := range arguments {
		m := quotedName.FindSubmatch(t.Raw[at.From:at.To])
		if m == nil {
			break
		}
		switch text := string(m[1]); {
		case !strings.HasPrefix(text, "-"):
			name = text
		case strings.HasPrefix(text, "--") && name == "":
			name, _, _ = strings.Cut(text[2:], "/")
		}
	}
	return strings.ReplaceAll(name, "-", "_")
}

// optionOf returns the option with a name, whose call's arguments begin at an offset: the default is the argument at a
// position or called so.
func optionOf(t *source.Text, name string, from, position int) address.NamedValue {
	o := address.NamedValue{Name: name, IsOption: true, Value: source.Span{From: from, To: from}}
	arguments, _ := t.Arguments(from)
	for _, at := range arguments {
		if m := quotedName.FindSubmatch(t.Raw[at.From:at.To]); m != nil && m[1][0] == '-' {
			flag, _, _ := strings.Cut(string(m[1]), "/")
			o.Flags = append(o.Flags, flag)
		}
	}
	if value, ok := t.Argument(from, position, "default"); ok {
		o.Value = value
	}
	variable, ok := t.Argument(from, -1, "envvar")
	if !ok {
		variable, ok = t.Argument(from, -1, "env_var")
	}
	if ok {
		if m := quotedName.FindSubmatch(t.Raw[variable.From:variable.To]); m != nil {
			o.Variable = string(m[1])
		}
	}
	return o
}

// definedFlag returns the flag that a call defines whose first argument is its name: that of Abseil, of Tornado. An
// argument of argparse without dashes is no flag.
func definedFlag(library, name string) []string {
	if strings.Contains(library, ".") {
		return nil
	}
	return []string{name, strings.ReplaceAll(name, "_", "-")}
}
