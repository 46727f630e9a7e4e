package probe

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Bridge is how a bridge reaches its server, and where it listens. It has the flags of the probe, their environment
// variables and the default flags of the image, and asks as a probe with them would.
type Bridge struct {
	// Listen is where it listens: host:port or :port.
	Listen string
	// Notes say where each value came from; there are none without -v.
	Notes []string

	options Options
}

const (
	// BridgeName is the name of the bridge's program.
	BridgeName = "grpc_health_bridge"
	// BridgePort is the port on which the bridge listens where nothing else is said.
	BridgePort = 8086

	// ListenFlag is the one flag that the probe does not have.
	ListenFlag = "listen"
	// ListenEnv is its environment variable.
	ListenEnv = "GRPC_HEALTH_BRIDGE_LISTEN"
)

// ReadBridge reads what a bridge is told by its command line, its environment and the default flags of its image. It
// returns a text where help or the version was all that was asked for. The error is a *[Failure].
func ReadBridge(args []string) (b *Bridge, text string, err error) {
	s := newSettings()
	s.program, s.help = BridgeName, bridgeHelp
	listen := os.Getenv(ListenEnv)
	if listen == "" {
		listen = fmt.Sprintf(":%d", BridgePort)
	}
	s.flags.StringVar(&listen, ListenFlag, listen, "")
	if text, err = s.gather(args); text != "" || err != nil {
		return nil, text, err
	}
	if err = s.checkBridge(); err == nil {
		err = s.options.validate()
	}
	if err != nil {
		return nil, "", err
	}
	b = &Bridge{Listen: listen, options: s.options}
	if s.options.Verbose {
		b.Notes = append(s.describe(), fmt.Sprintf("-%s=%q", ListenFlag, listen))
	}
	b.options.Verbose = false // notes on each question would fill the log
	return b, "", nil
}

// CheckBridgeDefaults returns an error for default flags that a bridge does not have. The probe has them all.
func CheckBridgeDefaults(words []string) error {
	s := newSettings()
	if err := s.parseDefaults(words, "default"); err != nil {
		return err
	}
	return s.checkBridge()
}

// checkBridge returns a *Failure for a flag that is set and that the bridge does not have.
func (s *settings) checkBridge() error {
	for i := range flagDefinitions {
		d := &flagDefinitions[i]
		f := s.flags.Lookup(d.name)
		if d.noBridge != "" && f.Value.String() != f.DefValue {
			err := fmt.Errorf("checking flags: the bridge has no -%s (%s)", d.name, s.origin[d.name])
			return misuse(err, d.noBridge)
		}
	}
	return nil
}

const bridgeHead = `Usage: grpc_health_bridge [flags]

Answers health checks for a gRPC server that the asker cannot check itself: it
asks the server as grpc_health_probe with the same flags does, each time that
it is asked. It answers on one port, in plain text:
  gRPC: grpc.health.v1.Health, of which the service "" is what the flags ask
        for, ready and live are the same with that -mode, and any other name is
        that service of the server
  HTTP: /healthz, /readyz and /livez, with 200 or 503

Flags:
`

const bridgeTail = `
Where a value comes from, first found wins (-v shows it):
  1. a flag
  2. an environment variable: ` + ListenEnv + `, and for the others
     GRPC_HEALTH_PROBE_ and the flag in capitals, as for the probe
  3. the default flags of the image, ../../config/` + ArgsFileName + `
     seen from the folder of this program
  4. for the address alone: localhost:$PORT

SIGTERM ends it, with the exit code 0; the exit code 1 is for flags, or for an
address to listen on, that are wrong.
`

// bridgeHelp is the bridge's text for -h.
func bridgeHelp() string {
	var text strings.Builder
	text.WriteString(bridgeHead)
	options := defaultOptions()
	flags := flag.NewFlagSet(BridgeName, flag.ContinueOnError)
	flags.SetOutput(&text)
	flags.String(ListenFlag, fmt.Sprintf(":%d", BridgePort), "`address` to answer on: host:port or :port")
	for i := range flagDefinitions {
		if flagDefinitions[i].noBridge == "" {
			flagDefinitions[i].addTo(flags, &options)
		}
	}
	flags.PrintDefaults()
	text.WriteString(bridgeTail)
	return text.String()
}

// Kind is a kind of question.
type Kind int

const (
	// AsFlagsSay asks what the flags ask for.
	AsFlagsSay Kind = iota
	// Ready asks the same with -mode=ready.
	Ready
	// Live asks the same with -mode=live.
	Live
	// OneService asks for the status of one service.
	OneService
)

// Question is what a bridge can be asked. Questions that are equal have the same answer at the same time.
type Question struct {
	Kind Kind
	// Service is the name of the service for OneService.
	Service string
}

// Question returns what the name of a service means, as bridge's clients write it. The empty name is what the flags ask
// for.
func (b *Bridge) Question(name string) Question {
	switch {
	case name == "" && b.options.mode == modeLive, name == "live":
		return Question{Kind: Live}
	case name == "" && b.options.mode == modeConnect:
		return Question{Kind: AsFlagsSay}
	case name == "", name == "ready":
		return Question{Kind: Ready}
	}
	return Question{Kind: OneService, Service: name}
}

// String returns how a log names the question.
func (q Question) String() string {
	switch q.Kind {
	case Ready:
		return "ready"
	case Live:
		return "live"
	case OneService:
		return subject(q.Service)
	}
	return "health"
}

// Address is where the server is, as -addr has it.
func (b *Bridge) Address() string { return b.options.addr }

// Longest is the longest time that one question takes.
func (b *Bridge) Longest() time.Duration { return b.options.Budget.Longest() }

// Services returns the names of the services that the flags name. The empty name is the whole server.
func (b *Bridge) Services() []string {
	if b.options.all {
		return nil
	}
	return slices.Clone(b.options.Services)
}

// Ask asks the server now, within the time that the flags allow. Many goroutines may ask at once.
func (b *Bridge) Ask(t Transport, q Question) Outcome {
	options := b.options
	switch q.Kind {
	case Ready:
		options.mode = modeReady
	case Live:
		options.mode = modeLive
	case OneService:
		options.mode, options.all, options.Services = modeReady, false, []string{q.Service}
	}
	p := prober{transport: t, options: &options}
	err := p.run()
	return Outcome{options: &options, report: p.report, failed: failuresOf(err)}
}

// Outcome is what one question has found out.
type Outcome struct {
	options *Options
	report  report
	failed  failures // nil where it passes
}

// Passes reports whether the server is as it was asked to be.
func (o Outcome) Passes() bool { return o.failed == nil }

// Equals reports whether two outcomes tell the same, whatever the texts are that the server has sent.
func (o Outcome) Equals(other Outcome) bool {
	return slices.EqualFunc(o.failed, other.failed, func(a, b *Failure) bool {
		return a.Code == b.Code && a.kind() == b.kind() && a.Hint == b.Hint
	})
}

// Answers returns the answer of each service that was asked for, as far as the server was reached.
func (o Outcome) Answers() []Answer { return o.report.answers }

// Lines returns what the probe prints for this outcome.
func (o Outcome) Lines() []string {
	if o.Passes() {
		return []string{o.options.mode.success()}
	}
	return printableLines(o.failed)
}

// JSON returns what the probe prints for this outcome with -o=json, a line.
func (o Outcome) JSON() []byte { return o.report.json(o.options.addr, o.failed) }

// ErrorLines returns what the probe prints for an error of this package.
func ErrorLines(err error) []string { return printableLines(failuresOf(err)) }

func printableLines(failed failures) []string {
	lines := failed.lines()
	for i, line := range lines {
		lines[i] = printable(line)
	}
	return lines
}

// IsUnknownService reports whether the server itself says that it does not know the service of an answer.
func (a Answer) IsUnknownService() bool {
	failed, ok := errors.AsType[*RPCError](a.Err)
	return ok && failed.Answered && failed.Code == CodeNotFound
}
