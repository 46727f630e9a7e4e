package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Anonymous returns the memory, in bytes, without a file behind it, of the processes in a group and the groups below:
// the unshared memory. Anonymous fails in a hierarchy that does not count memory.
func Anonymous(group string) (int64, error) {
	text, err := os.ReadFile(filepath.Join(group, "memory.stat"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "total_rss" || name == "anon" { // of version 1, and of version 2
			return strconv.ParseInt(value, 10, 64)
		}
	}
	return 0, fmt.Errorf("reading the memory of cgroup %q: it is not counted", group)
}
