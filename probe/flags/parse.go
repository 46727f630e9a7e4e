package flags

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/grpc-cnb/health-probe/probe/check/metadata"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

const helpHint outcome.Hint = "-h lists the flags and their values"

// Parse applies the words of a command line. The error for -h and -help is flag.ErrHelp; any other error is a
// *[outcome.Failure].
func (c *CommandLine) Parse(words []string) error { return c.parse(words, onCommandLine) }

// parse is Parse for words from the given source.
func (c *CommandLine) parse(words []string, source string) error {
	c.source = source
	err := c.Flags.Parse(words)
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	if err != nil {
		return c.unparsed(err)
	}
	if c.Flags.NArg() > 0 {
		return outcome.Misuse(c.unexpected(),
			"a flag begins with -, a value with spaces needs quotes, and false is -flag=false")
	}
	return nil
}

// parseRest applies the flags after a bad flag.
func (c *CommandLine) parseRest() {
	for rest := c.Flags.Args(); len(rest) > 0; rest = c.Flags.Args() {
		if _ = c.Flags.Parse(rest); c.Flags.NArg() == len(rest) {
			_ = c.Flags.Parse(rest[1:]) // the first word is no flag
		}
	}
}

// ParseDefaults is Parse for words kept with the image, from the given source. The words cannot ask for help or the
// version, because every probe would then pass.
func (c *CommandLine) ParseDefaults(words []string, source string) error {
	err := c.parse(words, source)
	version := c.values.version
	c.values.version = false
	if errors.Is(err, flag.ErrHelp) || err == nil && version {
		return outcome.Misuse(errors.New("parsing flags: -h, -help and -version cannot be defaults"), "leave them out")
	}
	return err
}

// unparsed returns the failure for an error of package flag. Package flag prints the whole bad word, which holds a
// header if -rpc-header and the value are one argument: the failure shows only a possible flag name.
func (c *CommandLine) unparsed(err error) error {
	word, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	name, _, joined := strings.Cut(word, " ")
	switch {
	case unknown && joined && findFlag(name) != nil:
		return outcome.Misuse(fmt.Errorf("parsing flags: -%s and its value are one argument", name),
			"write -flag=value, or make them two items of the list")
	case unknown && !metadata.IsName(strings.ToLower(word)):
		return outcome.Misuse(
			errors.New("parsing flags: flag provided but not defined (not shown: it may hold a secret)"), helpHint)
	case strings.HasPrefix(err.Error(), "bad flag syntax"):
		return outcome.Misuse(errors.New("parsing flags: bad flag syntax (not shown: it may hold a secret)"), helpHint)
	}
	return outcome.Misuse(fmt.Errorf("parsing flags: %w", err), helpHint)
}

// unexpected names the first word that is no flag, unless the word may be a header, or the rest of a header without
// quotes.
func (c *CommandLine) unexpected() error {
	v := c.values
	headers := len(v.headers) > 0 && c.origin["rpc-header"] == c.source ||
		len(v.headerFiles) > 0 && c.origin["rpc-header-file"] == c.source
	if word := c.Flags.Arg(0); !headers && !strings.ContainsAny(word, ":=") {
		return fmt.Errorf("parsing flags: unexpected argument %q", word)
	}
	return errors.New("parsing flags: unexpected argument (not shown: it may belong to -rpc-header)")
}
