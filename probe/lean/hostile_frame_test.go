package lean_test

import (
	"strings"
	"testing"

	"golang.org/x/net/http2"
)

// sends returns a server that sends one frame in place of an answer.
func sends(kind http2.FrameType, flags http2.Flags, stream uint32, payload string) func(*peer, uint32) {
	return func(p *peer, _ uint32) { p.frame(kind, flags, stream, payload) }
}

// sendsFirst is sends with a healthy answer after the frame, which grpc-go ignores.
func sendsFirst(kind http2.FrameType, flags http2.Flags, stream uint32, payload string) func(*peer, uint32) {
	return func(p *peer, id uint32) {
		p.frame(kind, flags, stream, payload)
		p.answer(id)
	}
}

// broke is the message for a server that has broken the protocol.
const broke = "broke the HTTP/2 protocol"

func TestFramesOfWrongLength(t *testing.T) {
	t.Parallel()
	meet(t, []encounter{
		{name: "SETTINGS", exit: 3, says: broke, answers: sends(http2.FrameSettings, 0, 0, "12345")},
		{
			name: "SETTINGS acknowledgement", exit: 3, says: broke,
			answers: sends(http2.FrameSettings, http2.FlagSettingsAck, 0, "123456"),
		},
		{name: "PING, short", exit: 3, says: broke, answers: sends(http2.FramePing, 0, 0, "1234567")},
		{name: "PING, long", exit: 3, says: broke, answers: sends(http2.FramePing, 0, 0, "123456789")},
		{name: "RST_STREAM, short", exit: 3, says: broke, answers: sends(http2.FrameRSTStream, 0, 1, "123")},
		{name: "RST_STREAM, long", exit: 3, says: broke, answers: sends(http2.FrameRSTStream, 0, 1, "12345")},
		{name: "GOAWAY", exit: 3, says: broke, answers: sends(http2.FrameGoAway, 0, 0, "1234567")},
		{name: "WINDOW_UPDATE, short", exit: 3, says: broke, answers: sends(http2.FrameWindowUpdate, 0, 0, "123")},
		{name: "WINDOW_UPDATE, long", exit: 3, says: broke, answers: sends(http2.FrameWindowUpdate, 0, 0, "12345")},
		{
			name: "HEADERS too short for a priority", exit: 3, says: broke,
			answers: sends(http2.FrameHeaders, http2.FlagHeadersPriority, 1, "1234"),
		},
		{
			name: "HEADERS without the padding's length", exit: 3, says: broke,
			answers: sends(http2.FrameHeaders, padded|endHeaders, 1, ""),
		},
		{
			name: "HEADERS of more padding than it has", exit: 3, says: broke,
			answers: sends(http2.FrameHeaders, padded|endHeaders, 1, "\x02\x88"),
		},
		{
			name: "DATA of more padding than it has", exit: 3, says: broke,
			answers: sends(http2.FrameData, padded, 1, "\xff12"),
		},
		{name: "DATA a byte over the limit", exit: 3, says: "over the limit", answers: func(p *peer, id uint32) {
			p.begin(id)
			p.data(id, prefixed(0, strings.Repeat("\x08\x01", 8190)))
		}},
		{name: "DATA of 16 MiB", exit: 3, says: "over the limit", answers: func(p *peer, id uint32) {
			p.begin(id)
			p.raw(frameBytes(1<<24-1, http2.FrameData, 0, id, ""))
			p.flood(strings.Repeat("\x00", 9000))
		}},
		{name: "HEADERS of 16 MiB", exit: 3, says: "over the limit", answers: func(p *peer, id uint32) {
			p.raw(frameBytes(1<<24-1, http2.FrameHeaders, endHeaders, id, ""))
			p.flood(strings.Repeat("\x88", 9000))
		}},
		{name: "unknown frame of 16 MiB", exit: 3, says: "over the limit", answers: func(p *peer, id uint32) {
			p.raw(frameBytes(1<<24-1, 0xbe, 0, id, ""))
			p.flood(strings.Repeat("\x88", 9000))
		}},
	})
}

func TestFramesOnWrongStreams(t *testing.T) {
	t.Parallel()
	meet(t, []encounter{
		{name: "SETTINGS", exit: 3, says: broke, answers: sends(http2.FrameSettings, 0, 1, "")},
		{name: "PING", exit: 3, says: broke, answers: sends(http2.FramePing, 0, 1, "12345678")},
		{name: "GOAWAY", exit: 3, says: broke, answers: sends(http2.FrameGoAway, 0, 1, "12345678")},
		{name: "DATA on none", exit: 3, says: broke, answers: sends(http2.FrameData, 0, 0, serving)},
		{name: "DATA on one of the server's", answers: sendsFirst(http2.FrameData, 0, 2, serving)},
		{name: "DATA on one never opened", answers: sendsFirst(http2.FrameData, 0, 3, serving)},
		{name: "DATA on the last there could be", answers: sendsFirst(http2.FrameData, 0, 1<<31-1, serving)},
		{name: "HEADERS on none", exit: 3, says: broke, answers: sends(http2.FrameHeaders, endHeaders, 0, "\x88")},
		{name: "HEADERS on one of the server's", answers: sendsFirst(http2.FrameHeaders, endHeaders, 2, "\x88")},
		{name: "HEADERS on one never opened", answers: sendsFirst(http2.FrameHeaders, endHeaders, 5, "\x88")},
		{
			name: "RST_STREAM on none", exit: 3, says: broke,
			answers: sends(http2.FrameRSTStream, 0, 0, "\x00\x00\x00\x08"),
		},
		{
			name:    "RST_STREAM on one never opened",
			answers: sendsFirst(http2.FrameRSTStream, 0, 3, "\x00\x00\x00\x08"),
		},
		{
			name:    "WINDOW_UPDATE on one never opened",
			answers: sendsFirst(http2.FrameWindowUpdate, 0, 3, "\x00\x00\x00\x08"),
		},
		{
			name: "CONTINUATION of nothing", exit: 3, says: broke,
			answers: sends(http2.FrameContinuation, endHeaders, 1, "\x88"),
		},
		{name: "CONTINUATION of another", exit: 3, says: broke, answers: func(p *peer, id uint32) {
			p.frame(http2.FrameHeaders, 0, id, "\x88")
			p.frame(http2.FrameContinuation, endHeaders, id+2, "")
		}},
	})
}

func TestFramesOutOfPlace(t *testing.T) {
	t.Parallel()
	meet(t, []encounter{
		{name: "PING within a header block", exit: 3, says: broke, answers: func(p *peer, id uint32) {
			p.frame(http2.FrameHeaders, 0, id, "\x88")
			p.frame(http2.FramePing, 0, 0, "12345678")
		}},
		{
			name:    "PUSH_PROMISE",
			answers: sendsFirst(http2.FramePushPromise, endHeaders, 1, "\x00\x00\x00\x02\x82"),
		},
		{
			name: "PUSH_PROMISE that is cut off", exit: 3, says: broke,
			answers: sends(http2.FramePushPromise, endHeaders, 1, "\x00\x00\x00"),
		},
		{
			name: "DATA in place of HEADERS", exit: 3, says: "without headers",
			answers: sends(http2.FrameData, endStream, 1, serving),
		},
		{name: "DATA before HEADERS", answers: func(p *peer, id uint32) {
			p.data(id, serving)
			p.begin(id)
			p.end(id, "grpc-status", "0")
		}},
		{name: "DATA after half of an informational answer", answers: func(p *peer, id uint32) {
			p.headers(id, 0, ":status", "100")
			p.data(id, serving)
			p.begin(id)
			p.end(id, "grpc-status", "0")
		}},
		{
			name: "HEADERS twice", exit: 3, says: "headers twice",
			answers: func(p *peer, id uint32) { p.begin(id); p.begin(id) },
		},
		{
			name: "SETTINGS with a window over the limit", exit: 3, says: broke,
			answers: sends(http2.FrameSettings, 0, 0, "\x00\x04\xff\xff\xff\xff"),
		},
		{
			name: "WINDOW_UPDATE by nothing", exit: 3, says: broke,
			answers: sends(http2.FrameWindowUpdate, 0, 0, "\x00\x00\x00\x00"),
		},
	})
}

func TestHeaderBlocksThatAttack(t *testing.T) {
	t.Parallel()
	block := func(b string) func(*peer, uint32) { return sends(http2.FrameHeaders, endHeaders, 1, b) }
	const undecodable, tooLarge = broke + ": invalid", "headers are over the limit"
	meet(t, []encounter{
		{name: "index out of the table", exit: 3, says: undecodable, answers: block("\xff\x00")},
		{name: "index of zero", exit: 3, says: undecodable, answers: block("\x80")},
		{
			name: "integer without bounds", exit: 3, says: undecodable,
			answers: block("\xff" + strings.Repeat("\xff", 5000)),
		},
		{name: "table over the limit", exit: 3, says: undecodable, answers: block("\x3f\xe1\xff\xff\x07")},
		{name: "table resized too late", exit: 3, says: undecodable, answers: block("\x40\x01a\x01b\x20")},
		{name: "cut within a field", exit: 3, says: undecodable, answers: block("\x00\x05ab")},
		{name: "string of 1 GiB", exit: 3, says: undecodable, answers: block("\x00\x7f\x81\xff\xff\xff\x03")},
		{
			name: "end of string in Huffman code", exit: 3, says: undecodable,
			answers: block("\x00\x84\xff\xff\xff\xff\x00"),
		},
		{name: "expansion by the table", exit: 3, says: tooLarge, answers: block(
			"\x40\x01a\x7f\xa1\x1e" + strings.Repeat("v", 4000) + strings.Repeat("\xbe", 12000))},
		{name: "more than the limit", exit: 3, says: tooLarge, answers: func(p *peer, id uint32) {
			p.frame(http2.FrameHeaders, 0, id, "\x88")
			for range 5 {
				p.frame(http2.FrameContinuation, 0, id,
					"\x00\x01a\x7f\x80\x7f"+strings.Repeat("v", 16255)+strings.Repeat("\x88", 100))
			}
		}},
	})
}
