package probe

import (
	"errors"
	"flag"
	"fmt"
	"strings"
)

const helpHint Hint = "-h lists the flags and their values"

// parse applies the words of a command line, which come from the given source. It returns flag.ErrHelp for -h and
// -help.
func (s *settings) parse(words []string, source string) error {
	s.source = source
	err := s.flags.Parse(words)
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	if err != nil {
		return s.unparsed(err)
	}
	if s.flags.NArg() > 0 {
		return misuse(s.unexpected(),
			"a flag begins with -, a value with spaces needs quotes, and false is -flag=false")
	}
	return nil
}

// parseRest applies the flags behind one that is bad.
func (s *settings) parseRest() {
	for rest := s.flags.Args(); len(rest) > 0; rest = s.flags.Args() {
		if _ = s.flags.Parse(rest); s.flags.NArg() == len(rest) {
			_ = s.flags.Parse(rest[1:]) // the first word is no flag
		}
	}
}

// parseDefaults is parse for words that are kept with the image. They cannot ask for help or the version, because every
// probe would then pass.
func (s *settings) parseDefaults(words []string, source string) error {
	err := s.parse(words, source)
	version := s.options.version
	s.options.version = false
	if errors.Is(err, flag.ErrHelp) || err == nil && version {
		return misuse(errors.New("parsing flags: -h, -help and -version cannot be defaults"), "leave them out")
	}
	return err
}

// unparsed returns the failure for an error of package flag. That prints the whole word that it cannot parse, which
// holds a header where -rpc-header and its value are one word: no more is shown of it than can be the name of a flag.
func (s *settings) unparsed(err error) error {
	word, unknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -")
	name, _, joined := strings.Cut(word, " ")
	switch {
	case unknown && joined && findFlag(name) != nil:
		return misuse(fmt.Errorf("parsing flags: -%s and what is behind it are one word", name),
			"make it two words, each an item of its own in a list; between a flag and its value = will do")
	case unknown && !isHeaderName(strings.ToLower(word)):
		return misuse(errors.New("parsing flags: flag provided but not defined (not shown: it may hold a secret)"),
			helpHint)
	case strings.HasPrefix(err.Error(), "bad flag syntax"):
		return misuse(errors.New("parsing flags: bad flag syntax (not shown: it may hold a secret)"), helpHint)
	}
	return misuse(fmt.Errorf("parsing flags: %w", err), helpHint)
}

// unexpected names the first word that is no flag, unless it may be a header, or the rest of one whose quotes were
// forgotten.
func (s *settings) unexpected() error {
	o := &s.options
	headers := len(o.headers) > 0 && s.origin["rpc-header"] == s.source ||
		len(o.headerFiles) > 0 && s.origin["rpc-header-file"] == s.source
	if word := s.flags.Arg(0); !headers && !strings.ContainsAny(word, ":=") {
		return fmt.Errorf("parsing flags: unexpected argument %q", word)
	}
	return errors.New("parsing flags: unexpected argument (not shown: it may belong to -rpc-header)")
}
