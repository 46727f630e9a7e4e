package sockets

import (
	"bytes"
	"encoding/binary"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/http2"
)

// Classify returns the protocol of a socket from the bytes of the answer, and "" if more bytes are needed. The result
// is never "" for a whole answer.
func Classify(answer []byte, whole bool) outcome.Protocol {
	switch {
	case len(answer) == 0 && whole:
		return outcome.Closed
	case len(answer) >= 2 && answer[0] == 0x15 && answer[1] == 3: // an alert (RFC 8446 section 5.1)
		return outcome.TLS
	case bytes.HasPrefix(answer, []byte("HTTP/1.")):
		return classifyHTTP1(answer, whole)
	case len(answer) < http2.FrameHeaderLen && whole:
		return outcome.OtherProtocol
	case len(answer) < http2.FrameHeaderLen:
		return ""
	}
	header := http2.ParseFrameHeader(answer)
	if header.Type != http2.FrameSettings || header.Stream != 0 || header.Has(http2.FlagAck) ||
		header.Length%6 != 0 || header.Length > http2.MaxFrameSize {
		return outcome.OtherProtocol
	}
	settings := answer[http2.FrameHeaderLen:]
	if len(settings) < header.Length && !whole {
		return ""
	}
	for settings = settings[:min(len(settings), header.Length)]; len(settings) >= 6; settings = settings[6:] {
		if binary.BigEndian.Uint16(settings) == http2.SettingBridge {
			return outcome.Bridge
		}
	}
	return outcome.HTTP2
}

// classifyHTTP1 is Classify for an answer in HTTP/1. A server with TLS may answer a request in plain text with 400 and
// a word in the body: "HTTPS" from Go and nginx, "TLS" from Tomcat.
func classifyHTTP1(answer []byte, whole bool) outcome.Protocol {
	const badRequest = "HTTP/1.1 400"
	isBad := len(answer) >= len(badRequest) && bytes.HasSuffix(answer[:len(badRequest)], []byte(" 400"))
	switch {
	case isBad && (bytes.Contains(answer, []byte("HTTPS")) || bytes.Contains(answer, []byte("TLS"))):
		return outcome.TLS
	case !whole && (isBad || len(answer) < len(badRequest)):
		return ""
	}
	return outcome.HTTP1
}
