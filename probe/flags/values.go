package flags

import (
	"flag"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/probe/check/options"
)

// values are what the flags set.
type values struct {
	options.Options

	headers, headerFiles lines // as they are written
	format               Format
	verbose, version     bool
	discover             bool
}

// Format is the value of -o.
type Format string

// The formats.
const (
	Text Format = "text"
	JSON Format = "json"
)

// newValues returns the values that hold if no flag is set.
func newValues() *values { return &values{Options: options.New(), format: Text} }

// repeatable is the value of a flag that may be given more than once.
type repeatable interface {
	flag.Value
	// reset removes what was given.
	reset()
}

// serviceNames is the value of -service. One value can hold several names with commas between them, because no name in
// protobuf has a comma. It implements flag.Value.
type serviceNames []string

// Set implements flag.Value. It adds the names in value that are not there yet.
func (s *serviceNames) Set(value string) error {
	for name := range strings.SplitSeq(value, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(*s, name) {
			*s = append(*s, name)
		}
	}
	return nil
}

// String implements flag.Value. It returns what Set takes to make the same value.
func (s *serviceNames) String() string { return strings.Join(*s, ",") }

// reset removes all names.
func (s *serviceNames) reset() { *s = nil }

// lines is the value of -rpc-header and of -rpc-header-file: the lines as the user has written them. It implements
// flag.Value. Its Set never fails, because package flag prints a value that Set fails on.
type lines []string

// Set implements flag.Value. It adds the lines of value, so one environment variable can hold several headers.
func (l *lines) Set(value string) error {
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); line != "" {
			*l = append(*l, line)
		}
	}
	return nil
}

// String implements flag.Value. It returns what Set takes to make the same value.
func (l *lines) String() string { return strings.Join(*l, "\n") }

// reset removes all lines.
func (l *lines) reset() { *l = nil }
