package flags

import (
	"flag"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/probe/check/options"
)

type values struct {
	options.Options

	headers, headerFiles lines // as written
	format               Format
	verbose, version     bool
	discover             bool
}

// Format is the value of -o.
type Format string

// Formats of the outcome.
const (
	Text Format = "text"
	JSON Format = "json"
)

// newValues returns the default values.
func newValues() *values { return &values{Options: options.New(), format: Text} }

// repeatable is the value of a flag that may be given more than once.
type repeatable interface {
	flag.Value
	reset()
}

// serviceNames is the value of -service and a flag.Value. Commas may separate several names, because no name in
// protobuf has a comma.
type serviceNames []string

// Set implements flag.Value. Only new names are added.
func (s *serviceNames) Set(value string) error {
	for name := range strings.SplitSeq(value, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(*s, name) {
			*s = append(*s, name)
		}
	}
	return nil
}

// String implements flag.Value. Set makes the same value from the text.
func (s *serviceNames) String() string { return strings.Join(*s, ",") }

func (s *serviceNames) reset() { *s = nil }

// lines is the value of -rpc-header and of -rpc-header-file: the lines as written by the user. It implements
// flag.Value. Set never fails, because package flag prints a value after an error of Set.
type lines []string

// Set implements flag.Value. Each line of value is added, so one environment variable can hold several headers.
func (l *lines) Set(value string) error {
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); line != "" {
			*l = append(*l, line)
		}
	}
	return nil
}

// String implements flag.Value. Set makes the same value from the text.
func (l *lines) String() string { return strings.Join(*l, "\n") }

func (l *lines) reset() { *l = nil }
