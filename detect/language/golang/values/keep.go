package values

import (
	"bytes"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// maxKept is how many bytes a file has at most that is kept until all files were seen.
const maxKept = 256 << 10

// IsWorthKeeping reports whether a file is kept until all files were seen: it has evidence of a server or belongs to a
// program, or it may state a port, and not that of a test double.
func IsWorthKeeping(name string, text []byte, hasEvidence bool) bool {
	return len(text) <= maxKept && (hasEvidence || !testDouble.MatchString(name) && mayStatePort(name, text))
}

// testDouble are the names of files with what tests use instead of the app's own.
var testDouble = source.Exactly(`(?:mock|fake)s?(?:_\w+)?\.go|\w+_(?:mock|fake)s?\.go`)

// settingsName are parts of the names of files that hand settings on.
var settingsNames = []string{"config", "conf", "setting", "env", "flag", "option", "const", "server", "serve", "root"}

// handsOn are in files with structs that hold an address, as Port uint16, with interfaces that have one, as
// Address() string, that tell its scheme from the rest, or that start a server of another package.
var handsOn = source.NewKeywords(
	"Port ", "Addr ", "Address ", "Port() int", "Port() string", "Addr() string", "Address() string", `"://"`,
	".Serve(")

// namesServices are in files with the names of services as constants, whose status another file sets.
var namesServices = source.NewKeywords("eadiness", "iveness", "erviceName")

// mayStatePort reports whether a file without findings may state a port, or hand on the port of others: it has a number
// that may be a port, or its name says that it holds settings. Most files are none of these. What names services is as
// good.
func mayStatePort(name string, text []byte) bool {
	if slices.ContainsFunc(settingsNames, func(part string) bool { return strings.Contains(name, part) }) {
		return true
	}
	if handsOn.In(text) || namesServices.In(text) {
		return true
	}
	for line := range bytes.Lines(text) {
		if HasPortNumber(line) {
			return true
		}
	}
	return false
}

// HasPortNumber reports whether a line of code has a number that may be a port: one of three to five digits, or one
// after a colon.
func HasPortNumber(line []byte) bool {
	if bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("//")) {
		return false
	}
	digits := 0
	for i, c := range line {
		if c >= '0' && c <= '9' {
			digits++
			continue
		}
		if digits > 0 {
			before := byte(' ')
			if i > digits {
				before = line[i-digits-1]
			}
			if before == ':' && digits > 1 || digits >= 3 && digits <= 5 && !source.IsWordByte(before) &&
				!source.IsWordByte(c) && c != '.' {
				return true
			}
		}
		digits = 0
	}
	return false
}
