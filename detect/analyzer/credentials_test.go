package analyzer_test

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// conditions are sources that use credentials, and what they say together.
var conditions = []struct{ want, code string }{
	{"plaintext", `use(insecure())`},
	{"TLS", `use(ssl(a))`},
	{"TLS or plaintext not known", `use(options.c || insecure())`},
	{"plaintext unless $T says otherwise", `use(env.T ? load() : insecure())`},
	{"plaintext unless $T says otherwise", `let c = ssl(a) if env.T else None
if c:
    use(c)
else:
    use(insecure())`},
	{"TLS or plaintext not known", `use(given)`},
	{"TLS", `let c = ssl(a)
use(c)`},
	{"TLS or plaintext not known", `let c = load()
use(c)`},
	{"TLS or plaintext, depending on x", `use(x ? ssl(a) : insecure())`},
	{"plaintext unless $T says otherwise", `use(env.T ? ssl(a) : insecure())`},
	{"plaintext unless $T says otherwise", `use(!env.T ? insecure() : ssl(a))`},
	{"plaintext unless $T says otherwise", `use(env.T === 'true' ? ssl(a) : insecure())`},
	{"TLS unless $T says otherwise", `use(env.T !== 'false' ? ssl(a) : insecure())`},
	{"TLS unless $T says otherwise", `use(env.T ?? 'true' === 'true' ? ssl(a) : insecure())`},
	{"plaintext unless $T says otherwise", `let t = getenv('T', 'false') == 'true'
use(t ? ssl(a) : insecure())`},
	{"plaintext unless $T says otherwise", `let t = env.T
if (typeof t !== 'undefined' && t === 'Y') {
  let c = ssl(a)
}
let c = insecure()
use(c)`},
	{"TLS or plaintext, depending on args.use_tls", `use(ssl(a) if args.use_tls else insecure())`},
	{"TLS unless tls says otherwise", `let tls = True
use(ssl(a) if tls else insecure())`},
	{"plaintext unless $T says otherwise", `if env.T:
    let c = ssl(a)
else:
    let c = insecure()
use(c)`},
	{"plaintext unless $T says otherwise", `if (!env.T) {
  let c = insecure()
} else {
  let c = ssl(a)
}
use(c)`},
	{"plaintext unless $T says otherwise", `use(env.T
  ? ssl(a)
  : insecure())`},
	{"TLS or plaintext, depending on $A", `if (env.A || env.B) {
  let c = ssl(a)
} else {
  let c = insecure()
}
use(c)`},
	{"plaintext unless $T says otherwise", `if env.T:
    try:
        use(ssl(a))
    except:
        if env.F:
            use(insecure())
else:
    use(insecure())`},
	{"plaintext unless $T says otherwise", `if env.T:
    use(ssl(a))
elif env.F:
    use(insecure())
else:
    use(insecure())`},
	{"plaintext unless $T says otherwise", `if env.M:
    if env.T:
        use(ssl(a))
    else:
        use(insecure())`},
}

// flags are declarations of an option of the command line, and what the log calls the option.
var flags = []struct{ want, declared, read string }{
	{"flag --use_tls", `parser.add_argument("--use_tls")`, "args.use_tls"},
	{"flag --use-tls", `parser.add_argument("-t", "--use-tls", action="store_true")`, "args.use_tls"},
	{"flag --use-tls", `program.option('--use-tls <bool>')`, "options.useTls"},
	{"flag --useTls", `yargs.option('useTls', {type: 'boolean'})`, "argv.useTls"},
	{"flag --use-tls", `parseArgs({options: {'use-tls': {type: 'boolean'}}})`, "args.useTls"},
	{"options.tls", `serve({tls: {cert: c}})`, "options.tls"},
	{"args.use_tls", `parser.add_argument("--secure", dest="use_tls")`, "args.use_tls"},
	{"args.use_tls", `a.add_argument("--use-tls"); b.add_argument("--use_tls")`, "args.use_tls"},
}

// A flag is called as the source declares it. If no declaration is found, the log has the name that the code reads.
func TestFlagsAreCalledAsTheyAreDeclared(t *testing.T) {
	t.Parallel()
	for _, c := range flags {
		code := c.declared + "\nuse(ssl(a) if " + c.read + " else insecure())"
		if got, want := security(code), "TLS or plaintext, depending on "+c.want; got != want {
			t.Errorf("%s\nsays %s, want %s", code, got, want)
		}
	}
}

// Conditions decide between TLS and plaintext: what holds if nothing is set, and what changes it.
func TestConditionsDecideTheSecurity(t *testing.T) {
	t.Parallel()
	for _, c := range conditions {
		if got := security(c.code); got != c.want {
			t.Errorf("%s\nsays %s, want %s", c.code, got, c.want)
		}
	}
}

// security returns what is known of the credentials that code gives to use.
func security(code string) string {
	grammar := source.Grammar{
		source.String(`"`, `"`, source.Quoting{}), source.String("'", "'", source.Quoting{}),
	}
	credentials := analyzer.Credentials{
		Plaintext: lazyregexp.New(`\binsecure\(`), TLS: lazyregexp.New(`\bssl\(`),
	}
	text := grammar.Read([]byte(code))
	names := address.Read(text, "\n", lazyregexp.New(`(?m)\blet (?P<name>\w+) = (?:\n)?`))
	var stated []analyzer.Stated
	for _, m := range text.FindAll(lazyregexp.New(`\buse\(`), -1) {
		stated = append(stated, credentials.In(names, use(text, m[1]))...)
	}
	return analyzer.Security(names, stated).String()
}

// use returns the argument of a call.
func use(text *source.Text, from int) source.Span {
	each, _ := text.Arguments(from)
	return each[0]
}
