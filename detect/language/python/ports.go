package python

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// flightServer is the base class of a server of Arrow Flight.
var flightServer = lazyregexp.New(`\bFlightServerBase\b`)

var listens = []analyzer.Listen{
	{Code: lazyregexp.New(`\.\s*add_(?:in)?secure_port\s*\(`), Argument: 1, Name: "address"},
	{Code: lazyregexp.New(`\.\s*start\s*\(`), Needs: lazyregexp.New(`\bgrpclib\b`), Argument: 2, Name: "port", Host: 1},
	{Code: lazyregexp.New(`\bServer\s*\(`), Needs: lazyregexp.New(`\bpurerpc\b`), Argument: 1, Name: "port"},
	{Code: lazyregexp.New(`\.\s*run\s*\(`), Needs: lazyregexp.New(`\bdapr\.ext\b`), Argument: 1, Name: "app_port"},
	{Code: lazyregexp.New(`\bgRPCOptions\s*\(`), Needs: lazyregexp.New(`\bray\b`), Argument: 1, Name: "port"},
	{Code: lazyregexp.New(`\bstart_server\s*\(`), Needs: lazyregexp.New(`\bflwr\b`), Name: "server_address"},
	{
		Code:  lazyregexp.New(`\bsuper\s*\([^()]*\)\s*\.\s*__init__\s*\(`),
		Needs: flightServer, Argument: 1, Name: "location",
	},
	{
		Code:  lazyregexp.New(`\bFlightServerBase\s*\.\s*__init__\s*\(`),
		Needs: flightServer, Argument: 2, Name: "location",
	},
	{Code: lazyregexp.New(`\bModelServer\s*\(`), Needs: lazyregexp.New(`\bkserve\b`), Argument: 2, Name: "grpc_port"},
}

var (
	assignment = lazyregexp.New(`(?m)(?:^|[:;])[ \t]*(?P<statement>)(?:self\.|cls\.)?(?P<name>[A-Za-z_]\w*)[ \t]*` +
		`(?::[ \t]*[\w.\[\], |"']+)?=[ \t]*`)
	// option declares an option of argparse, click or Abseil on the command line. Abseil's second argument is the
	// default. optionName is the first long name of an option.
	option     = lazyregexp.New(`(?:\.[ \t]*(?:add_argument|option)|(?P<abseil>\bDEFINE_(?:integer|string)))[ \t]*\(`)
	optionName = lazyregexp.New(`["'](?:--)?(\w[\w-]+)`)
	// otherDefaults replaces declared defaults of options. global lets a function set a module's variable.
	otherDefaults = lazyregexp.New(`\bset_defaults?\(|\b(?:default_config_files|default_map|auto_envvar_prefix)\b`)
	// A module that makes a server and gives it no services is for the files that have them, even if it has a main of
	// its own.
	makesServer = lazyregexp.New(`\bgrpc\.(?:aio\.)?server\(`)
	addsService = lazyregexp.New(`_to_server\b|\badd_(?:generic_rpc|registered_method)_handlers\b`)
	global      = lazyregexp.New(`\bglobal[ \t]+(?P<name>\w+)`)
)

const maxOptions = 128

// namesIn returns the names in a source. Code reads an option as a field, args.port, or as a parameter.
func namesIn(t *source.Text) *address.Names {
	names := address.Read(t, "\n", assignment)
	names.IsImported = t.Matches(mainCheck) && t.Matches(makesServer) && !t.Matches(addsService)
	for _, name := range t.Names(global) {
		names.DeclareOption(name, "", source.Span{})
	}
	hasOthers := t.Matches(otherDefaults)
	for _, m := range t.FindAll(option, maxOptions) {
		_, all := t.Arguments(m[1])
		name := optionName.FindSubmatch(t.Raw[all.From:all.To])
		if name == nil {
			continue
		}
		position := -1
		if _, ok := t.Group(option, m, "abseil"); ok {
			position = 1
		}
		value, ok := t.Argument(m[1], position, "default")
		if !ok || hasOthers {
			value = source.Span{From: m[1], To: m[1]}
		}
		variable, _ := t.Argument(m[1], -1, "envvar", "env_var")
		asked := strings.Trim(string(t.Raw[variable.From:variable.To]), `"'`)
		names.DeclareOption(address.Field(string(name[1])), asked, value)
	}
	return names
}

// listeners returns the listeners of a source. Names are read only beside a listener: reading them is most of the work.
func listeners(t *source.Text) []finding.Finding {
	listensBy := func(l analyzer.Listen) bool { return t.Matches(l.Code) }
	isDjango := bytes.Contains(t.Raw, []byte(djangoKey))
	if !isDjango && !slices.ContainsFunc(listens, listensBy) {
		return nil
	}
	names := namesIn(t)
	found := analyzer.Listeners(names, listens)
	if isDjango {
		found = append(found, djangoSettings(names)...)
	}
	return found
}

const djangoKey = "GRPC_CHANNEL_PORT"

// djangoPort is the port in the settings of django-socio-grpc. An argument of the command that serves may replace the
// port (django_socio_grpc/settings.py, management/commands/grpcrunaioserver.py).
var djangoPort = lazyregexp.New(`["'](?P<key> {17})["']\s*:\s*`)

// djangoSettings returns the listeners in the settings of django-socio-grpc.
func djangoSettings(names *address.Names) []finding.Finding {
	var found []finding.Finding
	for _, m := range names.FindAll(djangoPort, maxOptions) {
		if key, _ := names.Group(djangoPort, m, "key"); key == djangoKey {
			a, why := names.Address(source.Span{From: m[1], To: names.Until(m[1], ",\n")})
			a.Host, a.Certainty = address.AllInterfaces, min(a.Certainty, address.Default)
			found = append(found, finding.Listens(a, why))
		}
	}
	return found
}

// djangoCommand starts a server of Django's gRPC frameworks on an address or a port: grpcrunserver --dev 0.0.0.0:9000
// (management/commands/grpcrunserver.py of both).
var djangoCommand = lazyregexp.New(`\bgrpcrun(?:aio)?server(?:[ \t]+(?:-\S+|\d{1,3}))*[ \t]+` +
	`["']?((?:[\w.\[\]:]*:)?\d{4,5}\b|\S*\$\S+)`)

// analyzeCommands returns the addresses that the command lines of a Procfile or of a shell script give to servers. Such
// an address replaces the default of the framework.
func analyzeCommands(text []byte) *analyzer.Result[extra] {
	var result analyzer.Result[extra]
	for _, m := range djangoCommand.FindAllSubmatchIndex(text, maxOptions) {
		line := 1 + bytes.Count(text[:m[0]], []byte("\n"))
		a := address.Setting(string(text[m[2]:m[3]]), line)
		result.Findings = append(result.Findings, finding.Listens(a, "it calculates"))
	}
	return &result
}

// mlserverSettings is MLServer's file of settings (docs/reference/settings.md), in the directory where MLServer starts.
const mlserverSettings = "settings.json"

// modelListener is the listener of MLServer, if MLServer serves the project.
type modelListener struct{ finding.Listener }

func analyzeSettings(f *tree.File, text []byte) (*analyzer.Result[extra], error) {
	documents, err := untrusted.ReadSettings(path.Base(f.Path), text)
	var result analyzer.Result[extra]
	for _, s := range slices.Concat(documents...) {
		if s.Key == "grpc_port" {
			l := finding.Listens(address.Setting(s.Value, s.Line), "")
			result.Findings = append(result.Findings, modelListener{l})
		}
	}
	return &result, err
}
