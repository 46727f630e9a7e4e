package flags

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/metadata"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/check/rawfile"
)

// CommandLine has the flags of a program that asks as the probe does, while the values are gathered from the sources.
// Sources are applied one after another, the lowest first. A flag set by a source replaces the whole value of a lower
// source. Only an address that no other source sets is looked for last: in the address file, then in $PORT.
type CommandLine struct {
	// Flags are all flags of the probe. The program may add more flags before the values are gathered.
	Flags *flag.FlagSet
	// CanSearch means that the program finds the server among the sockets of the container if no user gives an address.
	CanSearch bool

	program string
	help    func() string
	values  *values
	source  string            // the source applied now
	origin  map[string]string // the source of each set flag, by the flag's name
}

const onCommandLine = "flag"

// New returns the command line of a program with the program's name and the text for -h.
func New(program string, help func() string) *CommandLine {
	c := &CommandLine{program: program, help: help, values: newValues(), origin: map[string]string{}}
	c.Flags = newSet(c.values)
	values := make([]sourcedValue, len(definitions))
	for i := range definitions {
		f := c.Flags.Lookup(definitions[i].name)
		values[i] = sourcedValue{Value: f.Value, name: f.Name, line: c}
		f.Value = &values[i]
	}
	return c
}

// Probe returns the command line of the probe.
func Probe() *CommandLine {
	c := New(programName, help)
	c.CanSearch = runtime.GOOS == "linux"
	return c
}

// sourcedValue is the value of a flag, and notes the source of the value.
type sourcedValue struct {
	flag.Value
	name string
	line *CommandLine
}

// Set implements flag.Value. A repeatable flag loses the values of a lower source.
func (v *sourcedValue) Set(text string) error {
	c := v.line
	if parts, ok := v.Value.(repeatable); ok && c.origin[v.name] != c.source {
		parts.reset()
	}
	if err := v.Value.Set(text); err != nil {
		return wanted(v.Value, err)
	}
	c.origin[v.name] = c.source
	return nil
}

// wanted returns an error that describes a valid value; the error of package flag is "parse error".
func wanted(v flag.Value, err error) error {
	kind, ok := v.(flag.Getter)
	if !ok {
		return err
	}
	switch kind.Get().(type) {
	case time.Duration: // of 64 bits, in nanoseconds
		return errors.New("it is not a duration such as 500ms or 2s, of at most 2562047h")
	case bool:
		return errors.New("it is neither true nor false")
	}
	return err
}

// Unwrap returns the value alone, for a text about the flag.
func (v *sourcedValue) Unwrap() flag.Value { return v.Value }

// IsBoolFlag tells package flag which flags need no value.
func (v *sourcedValue) IsBoolFlag() bool {
	boolean, ok := v.Value.(interface{ IsBoolFlag() bool })
	return ok && boolean.IsBoolFlag()
}

// Gather applies all sources; args is the command line. The text is the help or the version, if args ask for either
// alone. After an error in one source, Gather still reads the rest, because any source may have -o, the format for the
// error. Of several errors, Gather returns that of the highest source.
func (c *CommandLine) Gather(args []string) (text string, err error) {
	fileErr := c.fromArgsFile()
	invalid := c.fromEnvironment()
	err = c.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return c.help(), nil
	case err != nil:
		c.parseRest()
		return "", err
	case c.values.version:
		return versionLine(c.program), nil
	}
	for _, value := range invalid {
		if c.origin[value.flag] != onCommandLine {
			return "", value.err
		}
	}
	if fileErr == nil && c.origin["addr"] == "" {
		fileErr = c.lookForAddress()
	}
	return "", fileErr
}

// lookForAddress applies an address for users who give none: from the address file, or else from $PORT. A program that
// can search does so if the server is elsewhere; then $PORT counts only if the search finds nothing.
func (c *CommandLine) lookForAddress() error {
	c.values.Search.Enabled = c.CanSearch && !c.isOff("discover")
	c.values.Budget.SearchTimeout = searchTimeout
	if err := c.fromAddressFile(); err != nil || c.origin["addr"] != "" {
		return err
	}
	return c.fromPort()
}

// searchTimeout is how long a probe may look for the server, in addition to the time for a server with a given address.
const searchTimeout = 900 * time.Millisecond

// isOff reports whether a source has set a flag to false.
func (c *CommandLine) isOff(name string) bool {
	return c.origin[name] != "" && c.Flags.Lookup(name).Value.String() == "false"
}

// Discovers reports whether the command line asks for -discover. A variable or the args file does not count: either
// would turn each probe into a report, and a report passes.
func (c *CommandLine) Discovers() bool {
	return c.values.discover && c.origin["discover"] == onCommandLine
}

// Options returns the combined meaning of the flags. lookUp knows the names of ports on the machine that is to connect.
// The error is a *[outcome.Failure]. Even with an error, the options have the settings of the outcome.
func (c *CommandLine) Options(lookUp address.PortLookup) (*options.Options, error) {
	err := c.values.validate(lookUp)
	return &c.values.Options, err
}

// Verbose reports whether -v is set.
func (c *CommandLine) Verbose() bool { return c.values.verbose }

// Format returns the format for the outcome.
func (c *CommandLine) Format() Format { return c.values.format }

// Source returns the source of a flag's value, or "" for the default.
func (c *CommandLine) Source(name string) string { return c.origin[name] }

// fromPort applies an address on this machine with the port in $PORT, the lowest source of all.
func (c *CommandLine) fromPort() error {
	port := os.Getenv("PORT")
	if port == "" {
		return nil
	}
	target := "localhost:" + port
	if c.values.Search.Enabled {
		c.values.Search.Fallback = target
		return nil
	}
	c.values.Budget.SearchTimeout = 0
	if _, err := address.Parse(target, address.AnyPort); err != nil {
		return outcome.Misuse(fmt.Errorf("reading environment variable PORT: %q is not a port", port),
			"set it to a number from 1 to 65535, or set -addr")
	}
	c.values.Addr, c.origin["addr"] = target, "environment variable PORT"
	return nil
}

// fromArgsFile applies the default flags that the build of the image has written.
func (c *CommandLine) fromArgsFile() error {
	words, path, err := readArgsFile()
	if rawfile.IsOutOfDescriptors(err) {
		return outcome.Misuse(err, outcome.OutOfDescriptors)
	}
	if err != nil {
		return outcome.Misuse(err, "rebuild the image, or fix the file: one argument per line")
	}
	if err := c.ParseDefaults(words, "args file "+path); err != nil {
		return fmt.Errorf("reading args file %q: %w", path, err)
	}
	return nil
}

type invalidValue struct {
	flag string
	err  error
}

// fromEnvironment applies the variables of flags, and returns the invalid values, which count unless the command line
// sets the same flags. -version has no variable: many Dockerfiles have ENV GRPC_HEALTH_PROBE_VERSION=v0.4.56 for the
// version to install, which must not turn each probe into an error. Variables without a flag are ignored: for a Service
// called grpc-health-probe, Kubernetes sets GRPC_HEALTH_PROBE_PORT and the like in every pod. An empty variable counts
// as unset.
func (c *CommandLine) fromEnvironment() (invalid []invalidValue) {
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		short, ok := strings.CutPrefix(name, variablePrefix)
		if !ok || value == "" {
			continue
		}
		d := findFlag(strings.ToLower(strings.ReplaceAll(short, "_", "-")))
		if d == nil || d.variable() != name {
			continue
		}
		c.source = "environment variable " + name
		if err := c.Flags.Set(d.name, value); err != nil {
			err = outcome.Misuse(
				fmt.Errorf("reading %s: invalid value %q for -%s: %w", c.source, value, d.name, err), helpHint)
			invalid = append(invalid, invalidValue{d.name, err})
		}
	}
	return invalid
}

// Describe returns a line for each set flag, with the value and the source, and a line for each header that is not
// sent.
func (c *CommandLine) Describe() (notes []string) {
	for _, name := range slices.Sorted(maps.Keys(c.origin)) {
		d := findFlag(name)
		value := c.Flags.Lookup(name).Value.String()
		if d.redact != nil {
			value = redacted(value, d.redact)
		}
		notes = append(notes, fmt.Sprintf("-%s=%q (%s)", name, value, c.origin[name]))
	}
	if c.values.Search.Enabled && c.values.Addr == "" {
		notes = append(notes, "-addr is not set: looking for the server among the sockets of this container")
	}
	return append(notes, metadata.Unsent(c.values.headers)...)
}

// redacted returns the lines of a value as redact shows each.
func redacted(value string, redact func(line string) string) string {
	shown := strings.Split(value, "\n")
	for i, line := range shown {
		shown[i] = redact(line)
	}
	return strings.Join(shown, ", ")
}
