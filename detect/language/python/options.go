package python

import (
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// optionCall declares an option of the command line: that of argparse, of click and typer, of Abseil, of Tornado.
var optionCall = regexp.MustCompile(
	`(?:\.[ \t]*(?:add_argument|option)|\b(?:DEFINE_(?:integer|string|bool|boolean)|define))[ \t]*\(`)

// quotedName is an argument that names an option.
var quotedName = regexp.MustCompile(`^["']([\w/-]+)["']$`)

// managementCommand is in sources of Django's commands, which get their options by key.
var managementCommand = source.NewKeywords("BaseCommand")

// maxOptions is how many options of a source are read.
const maxOptions = 128

// readOptions returns the options of the command line by the names that the code reads them by: ".port" of args.port
// and FLAGS.port, "port" of the parameter that click gives to a function. The value of one without a default is empty.
func readOptions(t *source.Text) []address.NamedValue {
	var options []address.NamedValue
	isByKey := managementCommand.In(t.Raw)
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
	if variable, ok := t.Argument(from, -1, "envvar"); ok {
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
