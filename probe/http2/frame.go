// Package http2 is the common part of HTTP/2 (RFC 9113) for a client and a server: the layout of frames, the protocol's
// numbers, and header blocks (RFC 7541). Begin with [FrameHeader] and [Decoder].
package http2

import (
	"encoding/binary"
	"strconv"
)

// FrameType is the type of a frame (RFC 9113 section 6).
type FrameType uint8

// The types of frames.
const (
	FrameData         FrameType = 0x0
	FrameHeaders      FrameType = 0x1
	FramePriority     FrameType = 0x2
	FrameRSTStream    FrameType = 0x3
	FrameSettings     FrameType = 0x4
	FramePushPromise  FrameType = 0x5
	FramePing         FrameType = 0x6
	FrameGoAway       FrameType = 0x7
	FrameWindowUpdate FrameType = 0x8
	FrameContinuation FrameType = 0x9
	// FramePriorityUpdate is from RFC 9218 section 7.1.
	FramePriorityUpdate FrameType = 0x10
)

// Frame flags (RFC 9113 section 6). FlagAck and FlagEndStream have the same value, for different frame types.
const (
	FlagAck        = 0x1
	FlagEndStream  = 0x1
	FlagEndHeaders = 0x4
	FlagPadded     = 0x8
	FlagPriority   = 0x20
)

// Settings (RFC 9113 section 6.5.2).
const (
	SettingHeaderTableSize      = 0x1
	SettingEnablePush           = 0x2
	SettingMaxConcurrentStreams = 0x3
	SettingInitialWindowSize    = 0x4
	SettingMaxFrameSize         = 0x5
	SettingMaxHeaderListSize    = 0x6
	// SettingBridge means that this product's bridge has sent the frame, and not an app's server. The identifier is not
	// registered; peers ignore an unknown identifier.
	SettingBridge = 0xb7d6
)

// Error codes (RFC 9113 section 7).
const (
	CodeNoError            = 0x0
	CodeProtocol           = 0x1
	CodeFlowControl        = 0x3
	CodeStreamClosed       = 0x5
	CodeFrameSize          = 0x6
	CodeRefusedStream      = 0x7
	CodeCancel             = 0x8
	CodeCompression        = 0x9
	CodeEnhanceYourCalm    = 0xb
	CodeInadequateSecurity = 0xc
)

var codeNames = [...]string{
	"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
	"FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
	"INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
}

// CodeName returns the name of an error code, or the number of a code without a name.
func CodeName(code uint32) string {
	if int64(code) < int64(len(codeNames)) {
		return codeNames[code]
	}
	return strconv.FormatUint(uint64(code), 10)
}

const (
	// Preface is sent by a client first (RFC 9113 section 3.4).
	Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	// DefaultWindow is the size of a flow-control window until SETTINGS change it.
	DefaultWindow = 65535
	// MaxWindow is the greatest size of a flow-control window.
	MaxWindow = 1<<31 - 1
	// FrameHeaderLen is the length of the header of a frame.
	FrameHeaderLen = 9
	// MaxFrameSize is the largest payload of a frame until SETTINGS raise the limit, and the minimum for all peers.
	MaxFrameSize = 16384
)

// FrameHeader is the header of a frame.
type FrameHeader struct {
	Length int
	Type   FrameType
	Flags  uint8
	Stream uint32
}

// Has reports whether a flag is set.
func (h FrameHeader) Has(flag uint8) bool { return h.Flags&flag != 0 }

// FrameLength returns the length of the payload of a frame from its first three bytes.
func FrameLength(b []byte) int { return int(b[0])<<16 | int(b[1])<<8 | int(b[2]) }

// ParseFrameHeader reads the first [FrameHeaderLen] bytes of a frame.
func ParseFrameHeader(b []byte) FrameHeader {
	return FrameHeader{
		Length: FrameLength(b), Type: FrameType(b[3]), Flags: b[4],
		Stream: binary.BigEndian.Uint32(b[5:]) & (1<<31 - 1),
	}
}

// AppendFrame appends one frame to b.
func AppendFrame(b []byte, kind FrameType, flags uint8, stream uint32, payload []byte) []byte {
	n := len(payload)
	b = append(b, byte(n>>16), byte(n>>8), byte(n), byte(kind), flags)
	b = binary.BigEndian.AppendUint32(b, stream)
	return append(b, payload...)
}

// AppendSetting appends a setting to the payload of a SETTINGS frame.
func AppendSetting(b []byte, id uint16, value uint32) []byte {
	b = binary.BigEndian.AppendUint16(b, id)
	return binary.BigEndian.AppendUint32(b, value)
}
