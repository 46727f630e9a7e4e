package probe

import (
	"fmt"
	"slices"
	"strings"
)

// serviceNames is the value of -service: names, with commas between them where
// they came in one word. A name of protobuf has no comma. It implements
// flag.Value.
type serviceNames []string

// Set adds the names in value that are not there yet.
func (s *serviceNames) Set(value string) error {
	for name := range strings.SplitSeq(value, ",") {
		if name = strings.TrimSpace(name); !slices.Contains(*s, name) {
			*s = append(*s, name)
		}
	}
	return nil
}

// String returns what Set would take to make the same value.
func (s *serviceNames) String() string { return strings.Join(*s, ",") }

// subject names what was asked for, in messages.
func subject(service string) string {
	if service == "" {
		return "the whole server"
	}
	return fmt.Sprintf("service %q", service)
}
