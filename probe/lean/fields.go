package lean

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/grpc-cnb/health-probe/probe/check/metadata"
)

// checkFields returns an error for a header block that grpc-go rejects (RFC 9113 sections 8.2.1 and 8.3; readMetaFrame
// in golang.org/x/net/http2/frame.go). If the probe took the block, the server would look healthy, and other clients
// would get no answer.
func checkFields(headers []header) error {
	regular := false
	var pseudo []string
	request := false
	for _, h := range headers {
		if !metadata.IsFieldValue(h.value) {
			return fmt.Errorf("value of the header %q", h.name)
		}
		if !strings.HasPrefix(h.name, ":") {
			if regular = true; !isFieldName(h.name) {
				return fmt.Errorf("header name %q", h.name)
			}
			continue
		}
		if regular {
			return fmt.Errorf("pseudo-header %q after a header", h.name)
		}
		switch h.name {
		case ":method", ":path", ":scheme", ":authority", ":protocol":
			request = true
		case ":status":
		default:
			return fmt.Errorf("pseudo-header %q", h.name)
		}
		for _, other := range pseudo {
			if other == h.name || request {
				return fmt.Errorf("pseudo-header %q beside %q", h.name, other)
			}
		}
		pseudo = append(pseudo, h.name)
	}
	return nil
}

// isFieldName reports whether a name is a token (RFC 9110 section 5.6.2) in lower case.
func isFieldName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~") == ""
}

// fields are the facts of a header block about a call. For most headers, the last value counts.
type fields struct {
	status, contentType, encoding string
	grpcStatus, message           string
	details                       []string // decoded
	hasStatus, isGRPC             bool     // grpc-status is present; one content type is gRPC
	malformed                     error    // error of a header that ends in -bin
}

// read reads a header block that has passed checkFields. The error means that a grpc-status is no number.
func (f *fields) read(headers []header) (err error) {
	for _, h := range headers {
		switch h.name {
		case ":status":
			f.status = h.value
		case "content-type":
			if !f.isGRPC {
				f.contentType = h.value
			}
			f.isGRPC = f.isGRPC || isGRPC(h.value)
		case "grpc-encoding":
			f.encoding = h.value
		case "grpc-message":
			f.message = percentDecode(h.value)
		case "grpc-status":
			if f.grpcStatus, f.hasStatus = h.value, true; err == nil {
				_, err = statusCode(h.value)
			}
		default:
			f.binary(h)
		}
	}
	return err
}

// binary notes a header that ends in -bin.
func (f *fields) binary(h header) {
	if !strings.HasSuffix(h.name, "-bin") {
		return
	}
	encoding := base64.RawStdEncoding
	if len(h.value)%4 == 0 {
		encoding = base64.StdEncoding
	}
	value, err := encoding.DecodeString(h.value)
	if err != nil {
		f.malformed = fmt.Errorf("server sent no base64 in the header %q", h.name)
	} else if h.name == "grpc-status-details-bin" {
		f.details = append(f.details, string(value))
	}
}
