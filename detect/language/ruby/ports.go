package ruby

import (
	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var listens = []analyzer.Listen{
	{Code: lazyregexp.New(`\.[ \t]*add_http2_port[ \t]*\(`), Argument: 1},
	{Code: lazyregexp.New(`\.[ \t]*add_http2_port[ \t]+(?P<address>[^\s(][^\n,]*)`)},
	{Code: lazyregexp.New(`\b(?:server_binding_url|rpc_host)[ \t]*=[ \t]*(?P<address>[^\n]*)`)},
	{
		Code:  lazyregexp.New(`\b\w+\.port[ \t(]+(?P<address>\d+|[A-Z][^\n]*)`),
		Needs: lazyregexp.New(`\bGriffin::Server\b`),
	},
	{Code: lazyregexp.New(`\bGriffin::Server\s*\.\s*run\(`), Name: "port"},
	{
		Code:  lazyregexp.New(`\bTCPServer\s*\.\s*(?:new|open)\(`),
		Needs: lazyregexp.New(`\bGrpcKit::Server\b`), Argument: -1, Host: 1,
	},
}

var (
	// assignment is PORT = 50051 or @port ||= 50051, also behind another statement or a condition.
	assignment = lazyregexp.New(
		`(?m)(?:^|;|\bthen\b|\bdo[ \t]*\|[\w, ]*\||(?:&&|\|\||\band\b|\bor\b)[ \t]*\(?)[ \t]*` +
			`(?P<name>@{0,2}[A-Za-z_]\w*)[ \t]*(?:\|\|)?=[ \t]*`)
	// endlessMethod is a method with a single expression.
	endlessMethod = lazyregexp.New(`(?m)^[ \t]*def[ \t]+(?:self\.)?(?P<name>\w+)[ \t]*(?:\(\))?[ \t]*=[ \t]*`)
	// element and literal are elements of a hash: options[:port] = 50051, { port: 50051 }.
	element = lazyregexp.New(`(?m)^[ \t]*\w+\[:(?P<field>\w+)\][ \t]*(?:\|\|)?=[ \t]*`)
	literal = lazyregexp.New(`[{,]\s*(?:(?P<field>\w+):|:\w+[ \t]*=>)[ \t]+(?P<value>[^\s,{}]+)`)
	// option is an option of OptionParser with a block that sets an element or a variable.
	option = lazyregexp.New(`\|[ \t]*\w+[ \t]*\|[ \t]*(?:\w+\[:(?P<field>\w+)\]|(?P<name>@?\w+))` +
		`[ \t]*=[ \t]*\w+[ \t]*\}`)
)

// namesIn returns the names in a source. An option adds no value to the other values of its name.
func namesIn(t *source.Text) *address.Names {
	names := address.Read(t, "\n", assignment, endlessMethod, element, literal)
	for _, m := range t.FindAll(option, -1) {
		name, _ := t.Group(option, m, "name")
		if field, ok := t.Group(option, m, "field"); ok {
			name = address.Field(field)
		}
		names.DeclareOption(name, "", source.Span{From: m[1], To: m[1]})
	}
	return names
}
