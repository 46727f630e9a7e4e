// Package metadata is the headers of each call of a probe. In go the lines of -rpc-header and -rpc-header-file as
// written by a user, out come the headers. Values are secrets: no error and no line for users shows a value.
//
// Begin with [Parse] and [ParseFiles], which check the lines, and [Read], which reads the files for an attempt.
package metadata

import (
	"fmt"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// Header is one entry of the metadata of a call.
type Header struct{ Name, Value string }

// hidden is printed in place of the value of a header.
const hidden = "[hidden]"

// Redact shows the name of a header only. If the text before the colon cannot be a name, Redact shows nothing, since
// the text may be part of a secret.
func Redact(line string) string {
	if name, _, ok := strings.Cut(line, ":"); ok && IsName(strings.ToLower(name)) {
		return name + ": " + hidden
	}
	return hidden
}

// Parse returns the headers of -rpc-header, without the headers that gRPC sets itself, as grpc-health-probe does. The
// error is a *[outcome.Failure], which names the first bad header by its number and does not show its value.
func Parse(written []string) ([]Header, error) {
	var headers []Header
	for i, line := range written {
		parsing := fmt.Sprintf("parsing -rpc-header %d", i+1)
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, outcome.Misuse(fmt.Errorf("%s: no colon in it", parsing), "write it as 'name: value'")
		}
		header := Header{strings.ToLower(name), strings.TrimSpace(value)}
		if !IsName(header.Name) {
			return nil, outcome.Misuse(fmt.Errorf("%s: invalid name", parsing), nameHint)
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

const nameHint outcome.Hint = "a name has letters, digits, - _ and . only"

// check returns a *[outcome.Failure] for a header that cannot be sent. The text of the failure begins with doing. The
// limits are those of gRPC over HTTP/2 (PROTOCOL-HTTP2.md, "Custom-Metadata").
func (h Header) check(doing string) error {
	switch {
	case isReserved(h.Name):
		return outcome.Misuse(fmt.Errorf("%s: %q is a header that the probe sets itself", doing, h.Name),
			"leave it out; -user-agent sets the user agent")
	case !strings.HasSuffix(h.Name, "-bin") && !IsText(h.Value):
		return outcome.Misuse(fmt.Errorf("%s: the value of %q is not printable ASCII", doing, h.Name),
			"a name that ends in -bin can carry any bytes")
	}
	return nil
}

// IsName reports whether a text in lower case can be the name of a header.
func IsName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}

// isReserved reports whether gRPC sets the header itself. The names are those that grpc-go leaves out of metadata
// (isReservedHeader in internal/transport/http_util.go). grpc-go sends other names that begin with grpc-, such as
// grpc-trace-bin.
func isReserved(name string) bool {
	switch name {
	case "content-type", "te", "user-agent", "grpc-encoding", "grpc-message", "grpc-message-type", "grpc-status",
		"grpc-timeout":
		return true
	}
	return false
}

// Credentials returns the names of the headers whose names mark the value as a credential.
func Credentials(headers []Header) (names []string) {
	for _, h := range headers {
		isCredential := slices.ContainsFunc([]string{
			"auth", "token", "secret", "passw", "credential", "cookie", "apikey", "api-key", "access-key", "jwt",
		}, func(word string) bool { return strings.Contains(strings.ReplaceAll(h.Name, "_", "-"), word) })
		if isCredential && !slices.Contains(names, h.Name) {
			names = append(names, h.Name)
		}
	}
	return names
}

// Unsent returns a note for each header of -rpc-header that is not sent.
func Unsent(written []string) (notes []string) {
	for _, line := range written {
		if name, _, ok := strings.Cut(line, ":"); ok && isReserved(strings.ToLower(name)) {
			notes = append(notes, fmt.Sprintf("-rpc-header: %q is not sent, since gRPC sets it itself", name))
		}
	}
	return notes
}

// IsText reports whether text can be the value of a header of gRPC whose name does not end in -bin (PROTOCOL-HTTP2.md,
// "ASCII-Value").
func IsText(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}

// IsFieldValue reports whether the value of a header has no control characters except tabs (RFC 9110 section 5.5).
func IsFieldValue[T string | []byte](value T) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}
