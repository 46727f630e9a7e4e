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

// headerLines is the value of -rpc-header: headers as they were written, a line
// each. It implements flag.Value and never fails in Set, because package flag
// prints the values it fails on.
type headerLines []string

// Set adds the headers in value, one a line, so that an environment variable
// can hold several.
func (h *headerLines) Set(value string) error {
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); line != "" {
			*h = append(*h, line)
		}
	}
	return nil
}

// String returns what Set would take to make the same value.
func (h *headerLines) String() string { return strings.Join(*h, "\n") }

func (h *headerLines) redacted() string {
	shown := make([]string, len(*h))
	for i, line := range *h {
		shown[i] = redactHeader(line)
	}
	return strings.Join(shown, ", ")
}

// redactHeader keeps the name alone.
func redactHeader(line string) string {
	if name, _, ok := strings.Cut(line, ":"); ok {
		return name + ": " + hidden
	}
	return hidden
}

// parse returns the headers, or a *Failure that names the first bad one and not
// its value. Limits are those of gRPC over HTTP/2 (PROTOCOL-HTTP2.md, "Custom-Metadata").
func (h *headerLines) parse() ([]Header, error) {
	var headers []Header
	for i, line := range *h {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, misuse(fmt.Errorf("parsing -rpc-header %d: no colon in it", i+1), "write it as 'name: value'")
		}
		name, value = strings.ToLower(name), strings.TrimSpace(value)
		if !isHeaderName(name) {
			return nil, misuse(fmt.Errorf("parsing -rpc-header %d: invalid name %q", i+1, name), "a name has letters, digits, - _ and . only")
		}
		if isReserved(name) {
			return nil, misuse(fmt.Errorf("parsing -rpc-header %d: %q is set by the probe itself", i+1, name),
				"leave it out; the user agent is set with -user-agent")
		}
		if !strings.HasSuffix(name, "-bin") && !isHeaderText(value) {
			return nil, misuse(fmt.Errorf("parsing -rpc-header %d: the value of %q is not printable ASCII", i+1, name),
				"a name that ends in -bin can carry any bytes")
		}
		headers = append(headers, Header{name, value})
	}
	return headers, nil
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
		if name != "rpc-header" || !strings.HasPrefix(word, "-") {
			continue
		}
		if joined {
			shown[i] = word[:len(word)-len(value)] + redactHeader(value)
		} else if i+1 < len(words) {
			shown[i+1] = redactHeader(words[i+1])
		}
	}
	return shown
}
