package address

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// DeclareFlags says by which flags of the command line, with or without dashes, a name is given.
func (d *Names) DeclareFlags(name string, flags ...string) {
	if d.flags == nil {
		d.flags = map[string][]string{}
	}
	for _, flag := range flags {
		giver := FlagGiver(strings.TrimLeft(flag, "-"))
		if len(giver) > len("--") && !slices.Contains(d.flags[name], giver) && len(d.flags[name]) < maxDeclarations {
			d.flags[name] = append(d.flags[name], giver)
		}
	}
}

// giversOf returns what may give a name when the process starts.
func (d *Names) giversOf(name string) []string {
	if d.GivenBy == nil {
		return d.flags[name]
	}
	return slices.Concat(d.flags[name], d.GivenBy(name))
}

// ReadFlags says which flags of the command line give the names that patterns match: the group "name", "field" or "key"
// of a pattern, as [Read] and [Names.Keyed] have them. The flags begin with dashes, among other code in the group
// "flags", or a flag is all of the group "flag".
func (d *Names) ReadFlags(patterns ...*lazyregexp.Regexp) {
	for _, p := range patterns {
		for _, m := range d.FindAll(p, maxKeys) {
			name, _ := declared(d.Text, p, m)
			if key, ok := d.Group(p, m, "key"); ok {
				name = Key(key)
			}
			flags, _ := d.Group(p, m, "flags")
			d.DeclareFlags(name, FlagsIn(flags)...)
			if flag, ok := d.Group(p, m, "flag"); ok {
				d.DeclareFlags(name, flag)
			}
		}
	}
}

var dashedFlag = lazyregexp.New(`(?:^|[\s"',|{(\[])--?([A-Za-z][\w.-]*)`)

// FlagsIn returns the flags in code, or in the description of an option: "-p, --port <port>".
func FlagsIn(code string) []string {
	var all []string
	for _, m := range dashedFlag.FindAllStringSubmatch(code, maxDeclarations) {
		all = append(all, m[1])
	}
	return all
}

var hump = lazyregexp.New(`([a-z0-9])([A-Z])`)

// Hyphenated returns a name as a parser of options writes it: grpc-port for grpcPort and grpc_port.
func Hyphenated(name string) string {
	return strings.ReplaceAll(strings.ToLower(hump.ReplaceAllString(name, "$1-$2")), "_", "-")
}
