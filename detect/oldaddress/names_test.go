package address

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Expressions as the languages write them, and the port that they state: 0 if a reader could not tell it
// either.
func TestPortsAreReadWhereTheyAreStatedPlainly(t *testing.T) {
	t.Parallel()
	const declarations = `PORT = 50051
Address = "0.0.0.0:50052"
twice = 50053
twice = 50054
foreign = "10.0.0.5"
mine = PORT
itself = itself
`
	quotes := source.Grammar{
		source.String(`"`, `"`, source.Quoting{}), source.String("'", "'", source.Quoting{}),
		source.String("`", "`", source.Quoting{Embeds: "${"}),
	}
	for expression, want := range map[string]int{
		`50051`: 50051, `"50051"`: 50051, `50_051`: 50051, `50051u16`: 50051, `"0.0.0.0:50051"`: 50051,
		`"[::]:50051"`: 50051,
		`":50051"`:     50051, `"localhost:50051"`: 50051, `"10.0.0.5:50051"`: 0,
		`"db.internal:50051"`: 0,
		`PORT`:                50051, `Address`: 50052, `mine`: 50051, `itself`: 0, `unknown`: 0,
		`twice`:    0,
		`PORT + 1`: 0, `PORT+offset`: 0, `"[::]:" + (PORT + 1)`: 0,
		`"[::]:" + str(PORT)`:                            50051,
		`std::string("0.0.0.0:") + std::to_string(PORT)`: 50051, `to_string(PORT) + to_string(PORT)`: 0,
		`"[::]:%d" % PORT`: 50051, `"{}:{}".format(foreign, PORT)`: 0, `"[::]:{}".format(PORT)`: 50051,
		`f"[::]:{PORT}"`: 50051, `f"[::]:{PORT:d}"`: 50051, `f"10.0.0.5:{PORT}"`: 0,
		`format!("{foreign}:{PORT}")`:            0,
		"`0.0.0.0:${process.env.PORT || 50055}`": 50055, "`0.0.0.0:${PORT}`": 50051,
		"`0.0.0.0:${PORT + 1}`":              0,
		`"0.0.0.0:#{ENV.fetch('P', 50055)}"`: 50055, `"0.0.0.0:#{ENV.fetch('P') { 50055 }}"`: 50055,
		`"\(host):\(PORT)"`:               50051,
		`os.environ.get("PORT", "50055")`: 50055, `parseInt(process.env.PORT || '50055', 10)`: 50055,
		`load().PORT`: 0, `serve(PORT: 50055)`: 50055,
		`sys.argv[1]`:                   0,
		`process.env.X ? 50055 : 50056`: 0, `secure ? twice : PORT`: 0,
		`args.PORT`: 0, `this->PORT`: 50051,
		`ns::PORT`: 50051, `FLAGS_PORT`: 50051, `PORT.to_string()`: 50051,
		`IPAddress.Parse("10.0.0.5"), PORT`: 0,
		`new Random().nextInt(60000)`:       0, `random.randrange(60000)`: 0, `rand(60000)`: 0,
		`([0, 0, 0, 0], 50055)`: 50055, `{127, 0, 0, 1}, 50055`: 50055, `"https://*:50055/"`: 50055,
		`"http://*:50055;http://*:50056"`: 0, `"unix:/run/a.sock"`: 0, `0`: 0,
		`70000`: 0, `1.50055`: 0, `50055.5`: 0, `50055.0`: 0, `50055.`: 50055, `.50055`: 0, `-50055`: 0,
	} {
		s := quotes.Read([]byte(declarations + expression))
		v := Read(s, "\n", lazyregexp.New(`(?m)^(?P<name>\w+) = `))
		if got := v.Value(source.Span{From: len(declarations), To: len(s.Raw)}).Local(); got != want {
			t.Errorf("%s states %d, want %d", expression, got, want)
		}
	}
}

// A default counts if the code says that the environment, a flag or an option gives what goes before it.
func TestUnknownIsNotReplacedByADefault(t *testing.T) {
	t.Parallel()
	const declarations = "port = environment.PORT\nown = compute()\nitself = itself || 8080\n"
	for expression, want := range map[string]Certainty{
		"8080": Written, "process.env.PORT || 8080": Default, "Number(process.env.PORT) || 8080": Default,
		"options.port ?? 8080": Default, "port || 8080": Default, "own || 8080": Unknown, "compute() || 8080": Unknown,
		"itself || 8080": Unknown, "this.own || 8080": Unknown, "server.own || 8080": Unknown,
		"config.own || 8080": Default,
		"port ? port : 8080": Default, "options.port ? options.port : 8080": Default, "own ? own : 8080": Unknown,
		"own ? 8080 : config.port": Unknown, "own ? 8080 : 8080": Written, "own ? 8080 : process.env.PORT": Unknown,
		"8080 if own else own": Unknown, "8080 if own else args.port": Unknown,
		"args.port if args.port else 8080": Default,
		"unknown || 8080":                  Unknown,
		"unknown ?? 8080":                  Unknown, "unknown or 8080": Unknown, "unknown ?: 8080": Unknown,
	} {
		text := source.Grammar{}.Read([]byte(declarations + expression))
		names := Read(text, "\n", lazyregexp.New(`(?m)^(?P<name>\w+) = `))
		got := names.Value(source.Span{From: len(declarations), To: len(text.Raw)})
		if got.Certainty != want || (got.Local() == 8080) != (want != Unknown) {
			t.Errorf("%s: %+v, want certainty %d", expression, got, want)
		}
	}
}

func TestSocketsAndVariablesAreStated(t *testing.T) {
	t.Parallel()
	quotes := source.Grammar{
		source.String(`"`, `"`, source.Quoting{}), source.String("'", "'", source.Quoting{}),
		source.String("`", "`", source.Quoting{}),
	}
	for expression, want := range map[string]Address{
		`"unix:/run/a.sock"`:              {Host: UnixSocket, Socket: "unix:/run/a.sock", Certainty: Written},
		`"unix:///run/a.sock"`:            {Host: UnixSocket, Socket: "unix:///run/a.sock", Certainty: Written},
		`"unix-abstract:a"`:               {Host: UnixSocket, Socket: "unix-abstract:a", Certainty: Written},
		`env.SOCKET ?? "unix:a.sock"`:     {Host: UnixSocket, Socket: "unix:a.sock", Certainty: Default},
		`env.ADDR ?? "unix:a"`:            {Host: UnixSocket, Socket: "unix:a", Certainty: Default, Variable: "ADDR"},
		`"unix:" + path`:                  {Host: UnixSocket},
		"`unix:${path}`":                  {Host: UnixSocket},
		`unknown || "unix:a.sock"`:        {},
		`x ? "unix:a" : "unix:b"`:         {Host: UnixSocket},
		`x ? "unix:a" : ":8080"`:          {Host: AllInterfaces, Port: 8080},
		`":" + env.PORT`:                  {Variable: "PORT"},
		`env.PORT || (x ? 8080 : 8081)`:   {Variable: "PORT"},
		`env.BIND_ADDR + ":" + env.PORT`:  {Variable: "PORT"},
		"`localhost:${env.PORT || 8080}`": {Host: Loopback, Port: 8080, Certainty: Default, Variable: "PORT"},
		`env.BIND_ADDR + ":8080"`:         {Port: 8080, Certainty: Default},
		"`${env.BIND_ADDR}:8080`":         {Port: 8080, Certainty: Default},
		"`${unknown()}:8080`":             {Port: 8080, Certainty: Written},
		`unknown() + ":8080"`:             {Port: 8080, Certainty: Written},
		`"%s:8080" % unknown`:             {Port: 8080, Certainty: Written},
		`"{}:8080".format(unknown)`:       {Port: 8080, Certainty: Written},
		`env.ADDR || ":8080"`:             {Host: AllInterfaces, Port: 8080, Certainty: Default, Variable: "ADDR"},
		`env.PORT ? num(env.PORT) : 8080`: {Port: 8080, Certainty: Default, Variable: "PORT"},
		"env.ADDR || `${env.BIND}:8080`":  {Port: 8080, Certainty: Default, Variable: "ADDR"},
		`own || env.PORT || 8080`:         {Port: 8080},
		`env.A_PORT || env.B_PORT`:        {},
		`x ? 8080 : "127.0.0.1:8080"`:     {Host: Loopback, Port: 8080, Certainty: Written},
		`x ? "127.0.0.1:8080" : 8080`:     {Host: Loopback, Port: 8080, Certainty: Written},
		`x ? "127.0.0.1:8080" : ":8080"`:  {Port: 8080, Certainty: Written},
		`x ? ":8080" : "127.0.0.1:8080"`:  {Port: 8080, Certainty: Written},
	} {
		text := quotes.Read([]byte(expression))
		got := Read(text, "\n").Value(source.Span{To: len(text.Raw)}).Address
		if got.Place.Line = 0; got != want {
			t.Errorf("%s: %#v, want %#v", expression, got, want)
		}
	}
}

// What a name asks the environment for goes before the default that stands beside the name.
func TestVariableOfANameIsStated(t *testing.T) {
	t.Parallel()
	const declarations = "port = process.env.GRPC_PORT\nown = compute()\n"
	for expression, want := range map[string]string{
		"port || 8080": "GRPC_PORT", "port ? port : 8080": "GRPC_PORT", "8080": "", "own || 8080": "",
	} {
		text := source.Grammar{}.Read([]byte(declarations + expression))
		names := Read(text, "\n", lazyregexp.New(`(?m)^(?P<name>\w+) = `))
		got := names.Value(source.Span{From: len(declarations), To: len(text.Raw)})
		if got.Variable != want {
			t.Errorf("%s: %+v, want the variable %q", expression, got, want)
		}
	}
}

// Servers of a file may share an address: that one was asked for does not change what the others get.
func TestExpressionIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	quotes := source.Grammar{source.String(`"`, `"`, source.Quoting{})}
	for _, expression := range []string{`env.get("PORT", 8080)`, `env.PORT || 8080`, `":8080"`} {
		text := quotes.Read([]byte(expression))
		names := Read(text, "\n")
		names.Keyed(lazyregexp.New(`\benv\.get\("(?P<key>\w+)", (?P<default>)`))
		s := source.Span{To: len(text.Raw)}
		code := string(text.Code)
		first := names.Value(s)
		if second := names.Value(s); !reflect.DeepEqual(first, second) || first.Local() != 8080 {
			t.Errorf("%s: first %+v, then %+v", expression, first, second)
		}
		if got := string(text.Code); got != code {
			t.Errorf("the code of %s is then %s", expression, got)
		}
	}
}

func TestHostOfSeveralIsUnknown(t *testing.T) {
	t.Parallel()
	for lines, want := range map[string]Host{
		`"localhost"`:                   Loopback,
		`x ? "localhost" : "127.0.0.1"`: Loopback,
		`x ? "localhost" : "0.0.0.0"`:   UnknownHost,
		`"[::]"`:                        AllInterfaces,
		`host()`:                        UnknownHost,
	} {
		d, s := server(lines)
		if got := d.Host(s); got != want {
			t.Errorf("%s is host %d, want %d", lines, got, want)
		}
	}
}

func TestHostsAreToldApart(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Host{
		"0.0.0.0:8080": AllInterfaces, "[::]:8080": AllInterfaces, ":8080": AllInterfaces, "127.0.0.1:8080": Loopback,
		"localhost:8080": Loopback, "[::1]:8080": Loopback,
		"10.0.0.5:8080": OneInterface, "db.internal:8080": OneInterface,
		"8080": UnknownHost, "unix:/run/a.sock": UnixSocket, "host": UnknownHost,
	} {
		if got := Parse(text); got.Host != want {
			t.Errorf("%s: %+v, want host %d", text, got, want)
		}
	}
}

func TestNamesInAnExpressionAreForOthersToLookUp(t *testing.T) {
	t.Parallel()
	grammar := source.Grammar{source.String(`"`, `"`, source.Quoting{})}
	text := grammar.Read([]byte("host = load()\nuse: host + config.get(\"port\")"))
	d := Read(text, "\n", lazyregexp.New(`(?m)^(?P<name>\w+) = `))
	from := strings.Index(string(text.Raw), "use: ") + len("use: ")
	for expression, want := range map[string][]string{
		"config.port":          {"config.port"},
		"config.port || 50051": {"config.port"},
		"50051 + x":            nil,
		"50051":                nil,
	} {
		text := source.Grammar{}.Read([]byte(expression))
		var got []string
		d := Read(text, "")
		d.Global = func(u Use) Name {
			got = append(got, u.Dotted)
			return Name{Path: u.Path}
		}
		if d.Value(source.Span{From: 0, To: len(expression)}); !slices.Equal(got, want) {
			t.Errorf("%s: names %v, want %v", expression, got, want)
		}
	}
	var uses []Use
	d.Global = func(u Use) Name {
		uses = append(uses, u)
		return Name{Path: u.Path}
	}
	names := d.Value(source.Span{From: from, To: from + len("host")}).Names
	want := []Name{{Path: "load()"}, {Path: "load"}}
	if !slices.Equal(names, want) || uses[0].Dotted != "load" || uses[0].After != "()" {
		t.Errorf("names %+v of %+v, want what host is made by", names, uses)
	}
	if values := d.Values("host", from); len(values) != 1 || text.Slice(values[0]) != "load()" {
		t.Errorf("values %v of host", values)
	}
}

func TestNameWithAnUnclearValueIsRemoved(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"port = 5000\nport = load()":     0,
		"port = 5000\nport = env()":      5000,
		"port = 5000\nport = int(port)":  5000,
		"port = 5000\nport = other.port": 0,
		"port = 5000\nself.port = port":  0,
		"port = 5000":                    5000,
	} {
		text := source.Grammar{}.Read([]byte(text + "\nport"))
		d := Read(text, "\n", lazyregexp.New(`(?m)^(?:self\.)?(?P<name>\w+) = `))
		d.DeleteUnclear(func(name, value string) bool { return value != "env()" && !UsesName(value, name) })
		if got := d.Value(source.Span{From: len(text.Raw) - len("port"), To: len(text.Raw)}).Local(); got != want {
			t.Errorf("%s: port %d, want %d", text.Raw, got, want)
		}
	}
}
