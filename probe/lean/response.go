package lean

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/probe/check"
)

func (st *stream) receiveHeaders(headers []header, end bool) {
	if st.done {
		return
	}
	if err := checkFields(headers); err != nil {
		st.fail(internal, fmt.Sprintf("server broke the HTTP/2 protocol: %v", err))
		return
	}
	if st.page != nil {
		if end {
			st.endPage()
		}
		return
	}
	if st.started && !end {
		st.fail(internal, "server sent headers twice")
		return
	}
	var f fields
	if err := f.read(headers); err != nil {
		st.fail(unknown, fmt.Sprintf("server ended the call with grpc-status %q", f.grpcStatus))
		return
	}
	if !st.started && !st.begins(&f, end) {
		return
	}
	if f.malformed != nil {
		st.fail(internal, f.malformed.Error())
		return
	}
	if !st.started {
		st.started, st.encoding = true, f.encoding
	}
	if st.receiveData(nil, false); end {
		st.finish(&f)
	}
}

// begins reports whether the first headers are those of a gRPC answer. Any other final answer sets page, and so ends
// the call. A content type of gRPC takes precedence over the HTTP status (gRPC, "HTTP to gRPC Status Code Mapping").
func (st *stream) begins(f *fields, end bool) bool {
	switch {
	case f.isGRPC && (!end || f.hasStatus || f.status == "200"):
		return true
	case isInformational(f.status) && !end:
		return false
	case f.status != "200":
		st.page = &callError{codeOfHTTP(f.status), fmt.Sprintf("server answered with HTTP status %q", f.status)}
	default:
		st.page = &callError{unknown, fmt.Sprintf(
			"server answered with HTTP status %q and content type %q, not application/grpc", f.status, f.contentType)}
	}
	if st.readPage(); end {
		st.endPage()
	}
	return false
}

// isInformational reports whether another HTTP status follows this status (RFC 9110, section 15.2).
func isInformational(status string) bool {
	code, err := strconv.Atoi(status)
	return err == nil && code >= 100 && code < 200
}

// maxPage is the number of bytes read of a page, and maxPageLine the number of bytes shown.
const maxPage, maxPageLine = 1024, 128

// readPage ends the call once enough of a page has come.
func (st *stream) readPage() {
	if len(st.body) >= maxPage || bytes.Contains(bytes.TrimLeft(st.body, "\r\n"), []byte("\n")) {
		st.endPage()
	}
}

func (st *stream) endPage() { st.fail(st.page.code, st.page.reason) }

// words returns the error for an HTTP answer with the first line of the page, which often says why.
func (e *callError) words(page []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimLeft(page, "\r\n"), []byte("\n"))
	line = bytes.TrimSpace(line[:min(len(line), maxPageLine)])
	if len(line) == 0 {
		return e.reason
	}
	return e.reason + ": " + strconv.Quote(string(line))
}

// isGRPC reports whether a content type is gRPC, with any message format. gRPC-Web does not count.
func isGRPC(contentType string) bool {
	rest, ok := strings.CutPrefix(contentType, "application/grpc")
	return ok && (rest == "" || rest[0] == '+' || rest[0] == ';')
}

// statusCode parses a grpc-status as grpc-go does.
func statusCode(text string) (uint32, error) {
	code, err := strconv.ParseInt(text, 10, 32)
	return uint32(code), err
}

// finish ends the call with the server's trailers.
func (st *stream) finish(f *fields) {
	code, err := statusCode(f.grpcStatus)
	switch {
	case st.done:
	case err != nil:
		st.fail(unknown, fmt.Sprintf("server ended the call with grpc-status %q", f.grpcStatus))
	case len(st.body) > 0:
		st.fail(internal, "server ended the call within a message")
	case len(f.details) == 1 && !agrees(f.details[0], int32(code)):
		st.fail(internal,
			fmt.Sprintf("server ended the call with grpc-status %d, and with another one in its details", code))
	default:
		st.answered = true
		st.fail(int(code), f.message)
	}
}

func (st *stream) receiveData(data []byte, end bool) {
	if st.done {
		return
	}
	st.body = append(st.body, data...)
	if st.page != nil {
		if st.readPage(); end {
			st.endPage()
		}
		return
	}
	if !st.started {
		// The data waits for the headers, within the window. grpc-go also accepts data before the headers.
		if end {
			st.fail(internal, "server ended the call without headers")
		}
		return
	}
	if err := st.deliver(); err != nil {
		st.fail(err.code, err.reason)
	} else if end {
		st.fail(internal, "server ended the call without a status")
	}
}

// callError ends one call.
type callError struct {
	code   int
	reason string
}

// deliver hands over the complete messages (gRPC over HTTP/2, "Length-Prefixed-Message").
func (st *stream) deliver() *callError {
	for len(st.body) >= 5 {
		size := uint32(st.body[1])<<24 | uint32(st.body[2])<<16 | uint32(st.body[3])<<8 | uint32(st.body[4])
		if size > check.MaxMessage {
			return &callError{
				resourceExhausted,
				fmt.Sprintf("message of %d bytes is over the limit of %d", size, check.MaxMessage),
			}
		}
		if uint32(len(st.body)-5) < size {
			return nil
		}
		message := st.body[5 : 5+size]
		if compressed := st.body[0]; compressed == 1 {
			plain, err := st.decompress(message)
			if err != nil {
				return err
			}
			message = plain
		} else if compressed > 1 {
			return &callError{internal, "message is neither compressed nor not"}
		}
		st.messages++
		if st.messages > 1 && !st.streams {
			return &callError{internal, "server sent more than one answer"}
		}
		if err := st.message(message); err != nil {
			return &callError{internal, err.Error()}
		}
		st.body = st.body[5+size:]
	}
	return nil
}

func (st *stream) decompress(message []byte) ([]byte, *callError) {
	if st.encoding != "gzip" {
		return nil, &callError{internal, fmt.Sprintf("message is compressed with %q", st.encoding)}
	}
	plain, err := gunzip(message)
	if errors.Is(err, errTooLong) {
		return nil, &callError{resourceExhausted, "decompressing the message: " + err.Error()}
	} else if err != nil {
		return nil, &callError{internal, "decompressing the message: " + err.Error()}
	}
	return plain, nil
}

// codeOfHTTP returns the gRPC code for the HTTP status of an answer without gRPC (gRPC, "HTTP to gRPC Status Code
// Mapping").
func codeOfHTTP(status string) int {
	switch status {
	case "400":
		return internal
	case "401":
		return unauthenticated
	case "403":
		return permissionDenied
	case "404":
		return unimplemented
	case "429", "502", "503", "504":
		return unavailable
	default:
		return unknown
	}
}

// percentDecode decodes a grpc-message. Invalid escapes stay unchanged (gRPC over HTTP/2, "Responses").
func percentDecode(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
