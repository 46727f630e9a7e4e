package probe

import (
	"fmt"
	"slices"
	"strings"
)

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

// subject returns how messages name what was asked for.
func subject(service string) string {
	if service == "" {
		return "the whole server"
	}
	return fmt.Sprintf("service %q", service)
}
