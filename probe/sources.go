package probe

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
)

// settings are the options while they are gathered from their sources. Sources are applied one after the other, the
// lowest first, and a flag that a source sets replaces the whole value that a lower source has set. Only the port file,
// the lowest source of all, is read last: where there is another address, nothing is read for it.
type settings struct {
	options Options
	flags   *flag.FlagSet
	source  string            // the one that is applied now
	origin  map[string]string // the source of each flag that is set, by the flag's name
	program string            // its name
	help    func() string     // its text for -h
}

// commandLine is the source of flags on the command line.
const commandLine = "flag"

func newSettings() *settings {
	s := &settings{options: defaultOptions(), origin: map[string]string{}, program: programName, help: help}
	s.flags = newFlags(&s.options)
	values := make([]sourcedValue, len(flagDefinitions))
	for i := range flagDefinitions {
		f := s.flags.Lookup(flagDefinitions[i].name)
		values[i] = sourcedValue{Value: f.Value, name: f.Name, settings: s}
		f.Value = &values[i]
	}
	return s
}

// sourcedValue is the value of a flag, and notes which source has set it.
type sourcedValue struct {
	flag.Value
	name     string
	settings *settings
}

// Set implements flag.Value. A flag that may be given more than once loses its values when the next source sets it.
func (v *sourcedValue) Set(text string) error {
	s := v.settings
	if parts, ok := v.Value.(interface{ reset() }); ok && s.origin[v.name] != s.source {
		parts.reset()
	}
	if err := v.Value.Set(text); err != nil {
		return err
	}
	s.origin[v.name] = s.source
	return nil
}

// IsBoolFlag tells package flag which flags need no value.
func (v *sourcedValue) IsBoolFlag() bool {
	boolean, ok := v.Value.(interface{ IsBoolFlag() bool })
	return ok && boolean.IsBoolFlag()
}

// gather applies all sources, args being the command line. It returns a text where help or the version was all that was
// asked for. An error in one source does not keep it from reading the others, because any of them may have -o, which
// says how to print the error. Of several errors it returns that of the highest source.
func (s *settings) gather(args []string) (text string, err error) {
	s.fromPort()
	fileErr := s.fromArgsFile()
	invalid := s.fromEnvironment()
	err = s.parse(args, commandLine)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return s.help(), nil
	case err != nil:
		s.parseRest()
		return "", err
	case s.options.version:
		return versionLine(s.program), nil
	}
	for _, value := range invalid {
		if s.origin[value.flag] != commandLine {
			return "", value.err
		}
	}
	if fileErr == nil && s.origin["addr"] == "" {
		fileErr = s.fromPortFile()
	}
	return "", fileErr
}

// fromPort applies an address on this machine with the port in $PORT, which is lower than all flags.
func (s *settings) fromPort() {
	if port := os.Getenv("PORT"); port != "" {
		s.options.addr, s.origin["addr"] = "localhost:"+port, "environment variable PORT"
	}
}

// fromArgsFile applies the default flags that the build of the image has written.
func (s *settings) fromArgsFile() error {
	words, path, err := readArgsFile()
	if isOutOfDescriptors(err) {
		return misuse(err, descriptorsHint)
	}
	if err != nil {
		return misuse(err, "rebuild the image, or mend the file: one argument a line")
	}
	if err := s.parseDefaults(words, "args file "+path); err != nil {
		return fmt.Errorf("reading args file %q: %w", path, err)
	}
	return nil
}

// invalidValue is a value that a flag does not take.
type invalidValue struct {
	flag string
	err  error
}

// fromEnvironment applies the variables of all flags that have one, and returns the invalid values, which count unless
// the command line sets the same flags. -version has no variable: ENV GRPC_HEALTH_PROBE_VERSION=v0.4.56, with which
// many Dockerfiles say what to install, must not turn each probe into an error. Variables that belong to no flag are
// ignored: for a Service called grpc-health-probe Kubernetes sets GRPC_HEALTH_PROBE_PORT and the like in every pod. An
// empty variable is one that is not set.
func (s *settings) fromEnvironment() (invalid []invalidValue) {
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
		s.source = "environment variable " + name
		if err := s.flags.Set(d.name, value); err != nil {
			err = misuse(fmt.Errorf("reading %s: invalid value %q for -%s: %w", s.source, value, d.name, err), helpHint)
			invalid = append(invalid, invalidValue{d.name, err})
		}
	}
	return invalid
}

// describe returns a line for each flag that is set, with its value and its source, and one for each header that is not
// sent.
func (s *settings) describe() (notes []string) {
	for _, name := range slices.Sorted(maps.Keys(s.origin)) {
		d := findFlag(name)
		value := s.flags.Lookup(name).Value.String()
		if d.redact != nil {
			value = d.lines(&s.options).redacted(d.redact)
		}
		notes = append(notes, fmt.Sprintf("-%s=%q (%s)", name, value, s.origin[name]))
	}
	return append(notes, s.options.headers.unsent()...)
}
