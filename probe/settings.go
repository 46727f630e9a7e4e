package probe

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// settings are the options while they are gathered from their sources. A
// source that sets a flag replaces the whole value a lower one has for it.
type settings struct {
	options Options
	flags   *flag.FlagSet
	origin  map[string]string // flag name to source, of flags that are set
}

func newSettings() *settings {
	s := &settings{origin: map[string]string{}}
	s.flags = newFlags(&s.options)
	return s
}

// silentFlagSet leaves printing to output, and secrets in values unprinted.
func silentFlagSet() *flag.FlagSet {
	f := flag.NewFlagSet("grpc_health_probe", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	return f
}

// parse takes the words of a command line and notes source as the origin of
// what they set. It returns flag.ErrHelp for -h and -help.
func (s *settings) parse(words []string, source string) error {
	err := s.flags.Parse(words)
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	if err != nil {
		return s.unparsed(err)
	}
	s.flags.Visit(func(f *flag.Flag) { s.origin[f.Name] = source })
	if s.flags.NArg() > 0 {
		return misuse(s.stray(), "a flag begins with -, a value with spaces needs quotes, and false is -flag=false")
	}
	return nil
}

// unparsed returns the failure for an error of package flag. That prints the whole
// word it cannot make out, which holds a header where -rpc-header and its value
// are one word: no more is shown of it than can be the name of a flag.
func (s *settings) unparsed(err error) error {
	hint := "-h lists the flags and their values"
	word, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	name, _, joined := strings.Cut(word, " ")
	switch {
	case unknown && joined && s.flags.Lookup(name) != nil:
		err = fmt.Errorf("-%s and what is behind it are one word", name)
		hint = "make it two words, each an item of its own in a list; between a flag and its value = will do"
	case unknown && !isHeaderName(strings.ToLower(word)):
		err = errors.New("flag provided but not defined (not shown: it may hold a secret)")
	case strings.HasPrefix(err.Error(), "bad flag syntax"):
		err = errors.New("bad flag syntax (not shown: it may hold a secret)")
	}
	return misuse(fmt.Errorf("parsing flags: %w", err), hint)
}

// readOn takes the flags behind one that is bad.
func (s *settings) readOn() {
	for rest := s.flags.Args(); len(rest) > 0; rest = s.flags.Args() {
		if _ = s.flags.Parse(rest); s.flags.NArg() == len(rest) {
			_ = s.flags.Parse(rest[1:]) // the first is no flag
		}
	}
	s.flags.Visit(func(f *flag.Flag) { s.origin[f.Name] = "flag" })
}

// stray names the first word that is no flag, unless it may be a header, or the
// rest of one whose quotes were forgotten.
func (s *settings) stray() error {
	if len(s.options.headers) > 0 || len(s.options.headerFiles) > 0 || strings.ContainsAny(s.flags.Arg(0), ":=") {
		return errors.New("parsing flags: unexpected argument (not shown: it may belong to -rpc-header)")
	}
	return fmt.Errorf("parsing flags: unexpected argument %q", s.flags.Arg(0))
}

// parseDefaults is parse for words that are not typed but kept: they cannot ask
// for help or the version, as every probe would then pass.
func (s *settings) parseDefaults(words []string) error {
	err := s.parse(words, "default")
	if err == nil && !s.options.version {
		return nil
	}
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return misuse(errors.New("parsing flags: -h, -help and -version cannot be defaults"), "leave them out")
	}
	return err
}

// complete fills in what the command line has left open.
func (s *settings) complete() error {
	if err := s.fromEnvironment(); err != nil {
		return err
	}
	if err := s.fromArgsFile(); err != nil {
		return err
	}
	if port := os.Getenv("PORT"); port != "" && s.origin["addr"] == "" {
		return s.set("addr", "localhost:"+port, "environment variable PORT")
	}
	return nil
}

// variables is what the names of all environment variables of flags begin with.
const variables = "GRPC_HEALTH_PROBE_"

// variable returns the environment variable for a flag.
func variable(name string) string {
	return variables + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// fromEnvironment reads the variable of every flag but -version: an ENV
// GRPC_HEALTH_PROBE_VERSION=v0.4.56, with which many Dockerfiles say what to
// install, must not turn each probe into an error. Variables that belong to no
// flag are not looked at: for a Service called grpc-health-probe Kubernetes
// sets GRPC_HEALTH_PROBE_PORT and its like in every pod. An empty variable is
// one that is not set. After a bad one the others are read all the same, as -o
// may be among them.
func (s *settings) fromEnvironment() (err error) {
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		short, ok := strings.CutPrefix(name, variables)
		if !ok || value == "" {
			continue
		}
		f := s.flags.Lookup(strings.ToLower(strings.ReplaceAll(short, "_", "-")))
		if f == nil || f.Name == "version" || variable(f.Name) != name {
			continue
		}
		if bad := s.set(f.Name, value, "environment variable "+name); err == nil {
			err = bad
		}
	}
	return err
}

// fromArgsFile reads the defaults that the build of the image has left.
func (s *settings) fromArgsFile() (err error) {
	words, path, err := readArgsFile()
	if err != nil {
		return misuse(err, "rebuild the image, or mend the file: one argument a line")
	}
	if len(words) == 0 {
		return nil
	}
	defaults := newSettings()
	if err := defaults.parseDefaults(words); err != nil {
		return fmt.Errorf("reading args file %q: %w", path, err)
	}
	defaults.flags.Visit(func(f *flag.Flag) {
		if err == nil {
			err = s.set(f.Name, f.Value.String(), "args file "+path)
		}
	})
	return err
}

// set gives a flag its value unless a higher source has done so.
func (s *settings) set(name, value, source string) error {
	if s.origin[name] != "" {
		return nil
	}
	if err := s.flags.Set(name, value); err != nil {
		return misuse(fmt.Errorf("reading %s: invalid value %q for -%s: %w", source, value, name, err),
			"-h lists the flags and their values")
	}
	s.origin[name] = source
	return nil
}

// describe returns a line for each value that is set: what it is and where it
// came from.
func (s *settings) describe() (notes []string) {
	s.flags.Visit(func(f *flag.Flag) {
		value := f.Value.String()
		if redact := redaction(f.Name); redact != nil {
			value = f.Value.(*lines).redacted(redact)
		}
		notes = append(notes, fmt.Sprintf("-%s=%q (%s)", f.Name, value, s.origin[f.Name]))
	})
	return notes
}
