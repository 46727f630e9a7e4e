package probe

import (
	"fmt"
	"slices"
	"strings"
)

// Header is one entry of the metadata of a call.
type Header struct{ Name, Value string }

// hidden is printed in place of the value of a header.
const hidden = "[hidden]"

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

// redacted returns the lines as redact shows them.
func (l lines) redacted(redact func(string) string) string {
	shown := make([]string, len(l))
	for i, line := range l {
		shown[i] = redact(line)
	}
	return strings.Join(shown, ", ")
}

// redactHeader shows the name of a header only. It shows nothing where the text before the colon cannot be a name,
// since that may be part of a secret.
func redactHeader(line string) string {
	if name, _, ok := strings.Cut(line, ":"); ok && isHeaderName(strings.ToLower(name)) {
		return name + ": " + hidden
	}
	return hidden
}

// parseHeaders returns the headers of -rpc-header. It leaves out those that gRPC sets itself, as grpc-health-probe
// does. The error is a *Failure, which names the first bad header by its number and does not show its value.
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
		if isReserved(header.Name) {
			continue
		}
		if err := header.check(parsing); err != nil {
			return nil, err
		}
		headers = append(headers, header)
	}
	return headers, nil
}

const nameHint Hint = "a name has letters, digits, - _ and . only"

// check returns a *Failure for a header that cannot be sent, whose text begins with what is being done. The limits are
// those of gRPC over HTTP/2 (PROTOCOL-HTTP2.md, "Custom-Metadata").
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

// isReserved reports whether gRPC sets the header itself. They are the names that grpc-go leaves out of metadata
// (isReservedHeader in internal/transport/http_util.go). It sends other names that begin with grpc-, such as
// grpc-trace-bin.
func isReserved(name string) bool {
	switch name {
	case "content-type", "te", "user-agent", "grpc-encoding", "grpc-message", "grpc-message-type", "grpc-status",
		"grpc-timeout":
		return true
	}
	return false
}

// unsent returns a note for each header of -rpc-header that is not sent.
func (l lines) unsent() (notes []string) {
	for _, line := range l {
		if name, _, ok := strings.Cut(line, ":"); ok && isReserved(strings.ToLower(name)) {
			notes = append(notes, fmt.Sprintf("-rpc-header: %q is not sent, since gRPC sets it itself", name))
		}
	}
	return notes
}

// isHeaderText reports whether text can be the value of an HTTP/2 header.
func isHeaderText(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// RedactArgs returns words, which are flags of the probe, for logs and labels: the values of -rpc-header are hidden.
// Where it is not sure, it hides too much.
func RedactArgs(words []string) []string {
	shown := slices.Clone(words)
	for i, word := range words {
		name, value, joined := strings.Cut(strings.TrimLeft(word, "-"), "=")
		d := findFlag(name)
		if d == nil || d.redact == nil || !strings.HasPrefix(word, "-") {
			continue
		}
		if joined {
			shown[i] = word[:len(word)-len(value)] + d.redact(value)
		} else if i+1 < len(words) {
			shown[i+1] = d.redact(words[i+1])
		}
	}
	return shown
}
