package probe

import (
	"fmt"
	"slices"
	"strings"
)

// Header is one entry of the metadata of a call.
type Header struct{ Name, Value string }

// hidden stands for the value of a header wherever one is printed.
const hidden = "[hidden]"

// lines is the value of -rpc-header and of -rpc-header-file: what was written, a
// line each. It implements flag.Value and never fails in Set, because package
// flag prints the values it fails on.
type lines []string

// Set adds the lines of value, so that an environment variable can hold several.
func (l *lines) Set(value string) error {
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); line != "" {
			*l = append(*l, line)
		}
	}
	return nil
}

// String returns what Set would take to make the same value.
func (l *lines) String() string { return strings.Join(*l, "\n") }

// redacted returns the lines, each as redact shows it.
func (l lines) redacted(redact func(string) string) string {
	shown := make([]string, len(l))
	for i, line := range l {
		shown[i] = redact(line)
	}
	return strings.Join(shown, ", ")
}

// redactHeader keeps the name alone, if it is one: what stands before a colon may
// be part of a secret.
func redactHeader(line string) string {
	if name, _, ok := strings.Cut(line, ":"); ok && isHeaderName(strings.ToLower(name)) {
		return name + ": " + hidden
	}
	return hidden
}

// parseHeaders returns the headers of -rpc-header, or a *Failure that names the
// first bad one and not its value.
func parseHeaders(written lines) ([]Header, error) {
	var headers []Header
	for i, line := range written {
		parsing := fmt.Sprintf("parsing -rpc-header %d", i+1)
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, misuse(fmt.Errorf("%s: no colon in it", parsing), "write it as 'name: value'")
		}
		header := Header{strings.ToLower(name), strings.TrimSpace(value)}
		if !isHeaderName(header.Name) {
			return nil, misuse(fmt.Errorf("%s: invalid name", parsing), nameHint)
		}
		if err := header.check(parsing); err != nil {
			return nil, err
		}
		headers = append(headers, header)
	}
	return headers, nil
}

const nameHint = "a name has letters, digits, - _ and . only"

// check returns a *Failure, which begins with doing, for a header that cannot be
// sent. Limits are those of gRPC over HTTP/2 (PROTOCOL-HTTP2.md, "Custom-Metadata").
func (h Header) check(doing string) error {
	switch {
	case isReserved(h.Name):
		return misuse(fmt.Errorf("%s: %q is set by the probe itself", doing, h.Name),
			"leave it out; the user agent is set with -user-agent")
	case !strings.HasSuffix(h.Name, "-bin") && !isHeaderText(h.Value):
		return misuse(fmt.Errorf("%s: the value of %q is not printable ASCII", doing, h.Name),
			"a name that ends in -bin can carry any bytes")
	}
	return nil
}

func isHeaderName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// isReserved reports names that the protocol gives a meaning; grpc-go drops
// them without a word.
func isReserved(name string) bool {
	return strings.HasPrefix(name, "grpc-") || slices.Contains([]string{"content-type", "te", "user-agent"}, name)
}

// isHeaderText reports whether text can be the value of an HTTP/2 header.
func isHeaderText(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// RedactArgs returns words, the probe's flags, with the values of -rpc-header
// hidden, for logs and labels. Where in doubt it hides too much.
func RedactArgs(words []string) []string {
	shown := slices.Clone(words)
	for i, word := range words {
		name, value, joined := strings.Cut(strings.TrimLeft(word, "-"), "=")
		redact := redaction(name)
		if redact == nil || !strings.HasPrefix(word, "-") {
			continue
		}
		if joined {
			shown[i] = word[:len(word)-len(value)] + redact(value)
		} else if i+1 < len(words) {
			shown[i+1] = redact(words[i+1])
		}
	}
	return shown
}

// redaction returns how the value of a flag is shown, nil for one that is shown
// as it is.
func redaction(name string) func(string) string {
	switch name {
	case "rpc-header":
		return redactHeader
	case "rpc-header-file":
		return redactHeaderFile
	}
	return nil
}
