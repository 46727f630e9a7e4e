package lean_test

import (
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// drip writes one byte at a time, and never ends.
func (p *peer) drip(bytes string) {
	for range time.Tick(5 * time.Millisecond) {
		if _, err := p.Conn.Write([]byte(bytes[:1])); err != nil {
			return
		}
		if bytes = bytes[1:]; bytes == "" {
			return
		}
	}
}

func says(bytes string) func(*peer) { return func(p *peer) { p.raw(bytes) } }

func saysAndCloses(bytes string) func(*peer) {
	return func(p *peer) {
		p.preface()
		p.raw(bytes)
		_ = p.Conn.Close()
	}
}

// notHTTP2 is the message for a server that begins with anything but SETTINGS.
const notHTTP2 = "the server's first bytes are not an HTTP/2 SETTINGS frame"

// A server that has not sent a valid SETTINGS frame has no usable connection: exit code 2.
func TestServersThatNeverBecomeUsable(t *testing.T) {
	t.Parallel()
	frame := frameBytes
	meet(t, []encounter{
		{
			name: "silent", exit: 2, waits: true, says: "waited 2s for the server's HTTP/2 SETTINGS frame",
			greets: func(*peer) {},
		},
		{
			name: "slow by the byte", exit: 2, waits: true, says: "waited 2s for the server's HTTP/2 SETTINGS frame",
			greets: func(p *peer) { p.drip(frame(6000, http2.FrameSettings, 0, 0, strings.Repeat("\x00\x0a", 3000))) },
		},
		{name: "closes at once", exit: 2, says: "closed the connection", greets: func(p *peer) { _ = p.Conn.Close() }},
		{name: "closes after the preface", exit: 2, says: "closed the connection", greets: saysAndCloses("")},
		{name: "closes within SETTINGS", exit: 2, says: "SETTINGS frame", greets: saysAndCloses(settings[:5])},
		{
			name: "closes its half", exit: 2, says: "closed the connection",
			greets: func(p *peer) { _ = p.Conn.(*net.TCPConn).CloseWrite() },
		},
		{name: "resets", exit: 2, says: "closed the connection", greets: func(p *peer) {
			p.preface()
			_ = p.Conn.(*net.TCPConn).SetLinger(0)
			_ = p.Conn.Close()
		}},
		{
			name: "HTTP 1.1", exit: 2, says: "the server speaks HTTP/1.1",
			greets: says("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
		},
		{name: "TLS alert", exit: 2, says: "the server speaks TLS", greets: says("\x15\x03\x01\x00\x02\x02\x46")},
		{name: "SSH", exit: 2, says: notHTTP2, greets: says("SSH-2.0-OpenSSH_9.2\r\n")},
		{name: "client's preface", exit: 2, says: notHTTP2, greets: says(http2.ClientPreface)},
		{
			name: "garbage without end", exit: 2, says: notHTTP2,
			greets: func(p *peer) { p.flood(strings.Repeat("\xf3\x07\xa9", 5000)) },
		},
		{
			name: "zeros without end", exit: 2, says: notHTTP2,
			greets: func(p *peer) { p.flood(strings.Repeat("\x00", 9000)) },
		},
	})
}

// The first frame must be SETTINGS with valid values.
func TestFirstFramesThatAreNoSettings(t *testing.T) {
	t.Parallel()
	frame := frameBytes
	meet(t, []encounter{
		{
			name: "acknowledgement of something first", exit: 2, says: "SETTINGS",
			greets: says(frame(6, http2.FrameSettings, http2.FlagSettingsAck, 0, "\x00\x03\x00\x00\x00\x01")),
		},
		{name: "PING first", exit: 2, says: notHTTP2, greets: says(frame(8, http2.FramePing, 0, 0, "12345678"))},
		{name: "DATA first", exit: 2, says: notHTTP2, greets: says(frame(7, http2.FrameData, 0, 1, serving))},
		{
			name: "GOAWAY first", exit: 2, says: "GOAWAY, error code PROTOCOL_ERROR",
			greets: says(frame(8, http2.FrameGoAway, 0, 0, "\x00\x00\x00\x00\x00\x00\x00\x01")),
		},
		{
			name: "SETTINGS on a stream", exit: 2, says: "SETTINGS",
			greets: says(frame(0, http2.FrameSettings, 0, 1, "")),
		},
		{
			name: "SETTINGS of 5 bytes", exit: 2, says: "SETTINGS",
			greets: says(frame(5, http2.FrameSettings, 0, 0, "\x00\x03\x00\x00\x00")),
		},
		{name: "SETTINGS of 16 MiB", exit: 2, says: "over the limit", greets: func(p *peer) {
			p.raw(frame(1<<24-1, http2.FrameSettings, 0, 0, ""))
			p.flood(strings.Repeat("\x00", 9000))
		}},
		{
			name: "SETTINGS with a window over the limit", exit: 2, says: "initial window",
			greets: says(frame(6, http2.FrameSettings, 0, 0, "\x00\x04\x80\x00\x00\x00")),
		},
	})
}

// overTLS returns a server that speaks after the TLS handshake.
func overTLS(config *tls.Config, speak func(*peer)) func(*peer) {
	return func(p *peer) { speak(newPeer(tls.Server(p.Conn, config))) }
}

// meetOverTLS is meet with the flags for a server with a certificate of its own.
func meetOverTLS(t *testing.T, encounters []encounter) {
	t.Helper()
	for i := range encounters {
		encounters[i].args = []string{"-tls", "-tls-no-verify"}
	}
	meet(t, encounters)
}

func TestServersThatNeverBecomeUsableOverTLS(t *testing.T) {
	t.Parallel()
	config := serverTLS()
	encounters := []encounter{
		{name: "silent", exit: 2, waits: true, says: "waited 2s for the TLS handshake", greets: func(*peer) {}},
		{
			name: "slow by the byte", exit: 2, waits: true, says: "waited 2s for the TLS handshake",
			greets: func(p *peer) { p.drip("\x16\x03\x03\x3f\xff" + strings.Repeat("\x02", 0x3fff)) },
		},
		{name: "closes at once", exit: 2, says: "clos", greets: func(p *peer) { _ = p.Conn.Close() }},
		{
			name: "HTTP 1.1", exit: 2, says: "the server does not speak TLS",
			greets: says("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"),
		},
		{name: "HTTP 2 without TLS", exit: 2, says: "the server does not speak TLS", greets: says(settings)},
		{
			name: "garbage without end", exit: 2, says: "TLS",
			greets: func(p *peer) { p.flood(strings.Repeat("\xf3\x07\xa9", 5000)) },
		},
		{name: "alert", exit: 2, says: "TLS", greets: says("\x15\x03\x03\x00\x02\x02\x50")},
		{
			name: "handshake message of 16 MiB", exit: 2, says: "tls: handshake message",
			greets: func(p *peer) {
				p.flood("\x16\x03\x03\x40\x00\x02\xff\xff\xff" + strings.Repeat("\x00", 0x4000-4))
			},
		},
		{
			name: "silent after the handshake", exit: 2, waits: true,
			says:   "waited 2s for the server's HTTP/2 SETTINGS frame",
			greets: overTLS(config, func(p *peer) { p.preface() }),
		},
		{
			name: "closes after the handshake", exit: 2, says: "closed the connection",
			greets: overTLS(config, func(p *peer) {
				p.preface()
				_ = p.Conn.Close()
			}),
		},
		{
			name: "HTTP 1.1 after the handshake", exit: 2, says: "the server speaks HTTP/1.1",
			greets: overTLS(config, func(p *peer) {
				p.preface()
				p.raw("HTTP/1.1 400 Bad Request\r\n\r\n")
			}),
		},
		{
			name: "PINGs without end", exit: 3, says: "frames that carry no answer",
			greets: overTLS(config, func(p *peer) {
				_ = p.WriteSettings()
				p.flood(strings.Repeat(frameBytes(8, http2.FramePing, 0, 0, "12345678"), 500))
			}),
		},
		{name: "right", exit: 0, says: "SERVING", greets: overTLS(config, func(p *peer) {
			_ = p.WriteSettings()
			p.preface()
			p.answer(p.request())
		})},
	}
	meetOverTLS(t, encounters)
}
