package lean

import (
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
	if st.started && !end {
		st.fail(internal, "server sent headers twice")
		return
	}
	fields := map[string]string{}
	for _, h := range headers {
		fields[h.name] = h.value
	}
	if !st.started {
		status := fields[":status"]
		// A gRPC status, here or in trailers, goes before HTTP's (gRPC, "HTTP to gRPC Status Code Mapping").
		saysMore := status != "" && isGRPC(fields["content-type"]) && (!end || fields["grpc-status"] != "")
		if len(status) == 3 && status[0] == '1' && !end {
			return
		} else if status != "200" && !saysMore {
			st.fail(codeOfHTTP(status), fmt.Sprintf("server answered with HTTP status %q", status))
			return
		}
		if !isGRPC(fields["content-type"]) {
			st.fail(unknown,
				fmt.Sprintf("server answered with HTTP status %q and content type %q, not application/grpc",
					status, fields["content-type"]))
			return
		}
		st.started, st.encoding = true, fields["grpc-encoding"]
	}
	if end {
		st.finish(fields)
	}
}

// isGRPC reports whether a content type is that of gRPC, with any message format. That of gRPC-Web is not.
func isGRPC(contentType string) bool {
	rest, ok := strings.CutPrefix(contentType, "application/grpc")
	return ok && (rest == "" || rest[0] == '+' || rest[0] == ';')
}

// finish ends the call with the server's trailers.
func (st *stream) finish(trailers map[string]string) {
	status, err := strconv.ParseUint(trailers["grpc-status"], 10, 31)
	if err != nil {
		st.fail(unknown, fmt.Sprintf("server ended the call with grpc-status %q", trailers["grpc-status"]))
		return
	}
	if len(st.body) > 0 {
		st.fail(internal, "server ended the call within a message")
		return
	}
	st.answered = !st.done
	st.fail(int(status), percentDecode(trailers["grpc-message"]))
}

func (st *stream) receiveData(data []byte, end bool) {
	if st.done {
		return
	}
	if !st.started {
		st.fail(internal, "server sent data before headers")
		return
	}
	st.body = append(st.body, data...)
	if err := st.deliver(); err != nil {
		st.fail(err.code, err.reason)
	} else if end {
		st.fail(internal, "server ended the call without a status")
	}
}

// callError is an error that ends one call.
type callError struct {
	code   int
	reason string
}

// deliver hands over the messages that have come completely (gRPC over HTTP/2, "Length-Prefixed-Message").
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

// codeOfHTTP returns the gRPC code for the HTTP status of an answer that is not gRPC (gRPC, "HTTP to gRPC Status Code
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

// percentDecode decodes a grpc-message. Invalid escapes stay as they are (gRPC over HTTP/2, "Responses").
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
