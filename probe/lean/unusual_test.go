package lean_test

import (
	"net"
	"strings"
	"testing"

	"golang.org/x/net/http2"
)

// The servers in this file do unusual things that the protocols allow.
func TestUnusualTimes(t *testing.T) {
	t.Parallel()
	meet(t, []encounter{
		{name: "plain", answers: (*peer).answer},
		{name: "closed after the answer", answers: func(p *peer, id uint32) { p.answer(id); _ = p.Conn.Close() }},
		{name: "unknown settings", greets: func(p *peer) {
			_ = p.WriteSettings(http2.Setting{ID: 0xf00d, Val: 1 << 31},
				http2.Setting{ID: http2.SettingHeaderTableSize, Val: 0})
			p.preface()
			p.answer(p.request())
		}},
		{name: "settings changed at any time", answers: func(p *peer, id uint32) {
			p.begin(id)
			_ = p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0},
				http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
			p.data(id, serving)
			_ = p.WriteSettingsAck()
			p.end(id, "grpc-status", "0")
		}},
		{name: "PING between all frames", answers: func(p *peer, id uint32) {
			ping := func() { _ = p.WritePing(false, [8]byte{1}) }
			ping()
			p.begin(id)
			ping()
			p.data(id, serving)
			ping()
			p.end(id, "grpc-status", "0")
		}},
		{name: "refused once, and not processed", answers: func(p *peer, id uint32) {
			_ = p.WriteRSTStream(id, http2.ErrCodeRefusedStream)
			p.answer(p.request())
		}},
		{name: "PING that has to be answered first", answers: func(p *peer, id uint32) {
			_ = p.WritePing(false, [8]byte{7})
			for {
				f, err := p.ReadFrame()
				if err != nil {
					return
				}
				if ping, ok := f.(*http2.PingFrame); ok && ping.IsAck() && ping.Data == [8]byte{7} {
					p.answer(id)
					return
				}
			}
		}},
	})
}

// HTTP/2 leaves it to the server how it distributes bytes over frames.
func TestUnusualFrames(t *testing.T) {
	t.Parallel()
	meet(t, []encounter{
		{name: "padding everywhere", answers: func(p *peer, id uint32) {
			pad := func(payload string) string { return "\x03" + payload + "\x00\x00\x00" }
			p.frame(http2.FrameHeaders, padded|endHeaders, id,
				pad(p.fields(":status", "200", "content-type", "application/grpc")))
			p.frame(http2.FrameData, padded, id, pad(serving))
			p.frame(http2.FrameData, padded, id, "\x00")
			p.frame(http2.FrameHeaders, padded|endHeaders|endStream, id, pad(p.fields("grpc-status", "0")))
		}},
		{name: "priorities", answers: func(p *peer, id uint32) {
			p.frame(http2.FrameHeaders, http2.FlagHeadersPriority|endHeaders, id,
				"\x80\x00\x00\x00\xff"+p.fields(":status", "200", "content-type", "application/grpc"))
			p.frame(http2.FramePriority, 0, 9, "\x00\x00\x00\x00\x10")
			p.data(id, serving)
			p.end(id, "grpc-status", "0")
		}},
		{name: "header blocks cut at every byte", answers: func(p *peer, id uint32) {
			p.continued(id, 0, p.fields(":status", "200", "content-type", "application/grpc"))
			p.data(id, serving)
			p.continued(id, endStream, p.fields("grpc-status", "0"))
		}},
		{name: "messages cut at every byte", answers: func(p *peer, id uint32) {
			p.begin(id)
			for i := range len(serving) {
				p.data(id, serving[i:i+1])
				p.data(id, "")
			}
			p.end(id, "grpc-status", "0")
		}},
		{name: "written by the byte", answers: func(p *peer, id uint32) {
			block, trailers := p.fields(":status", "200", "content-type", "application/grpc"), p.fields("grpc-status",
				"0")
			bytes := frameBytes(len(block), http2.FrameHeaders, endHeaders, id, block) +
				frameBytes(len(serving), http2.FrameData, 0, id, serving) +
				frameBytes(len(trailers), http2.FrameHeaders, endHeaders|endStream, id, trailers)
			for i := range len(bytes) {
				p.raw(bytes[i : i+1])
			}
		}},
		{name: "unknown frames", answers: func(p *peer, id uint32) {
			p.frame(0xbe, 0xff, id, "what is this?")
			p.frame(0xbf, 0, 77, "and on what stream?")
			p.answer(id)
		}},
	})
}

// gRPC leaves much to HTTP, and protocol buffers ignore unknown fields.
func TestUnusualAnswers(t *testing.T) {
	t.Parallel()
	meet(t, []encounter{
		{name: "informational answers first", answers: func(p *peer, id uint32) {
			p.headers(id, 0, ":status", "100")
			p.headers(id, 0, ":status", "103", "link", "</style.css>")
			p.answer(id)
		}},
		{name: "other content type of gRPC", answers: func(p *peer, id uint32) {
			p.headers(id, 0, ":status", "200", "content-type", "application/grpc+proto")
			p.data(id, serving)
			p.end(id, "grpc-status", "0")
		}},
		{name: "fields that are not known", answers: func(p *peer, id uint32) {
			p.begin(id)
			p.data(id, prefixed(0, "\x12\x03abc\x1d\x01\x02\x03\x04\x08\x01\x19\x01\x02\x03\x04\x05\x06\x07\x08"))
			p.end(id, "grpc-status", "0", "grpc-message", "", "x-more", strings.Repeat("y", 5000))
		}},
		{name: "gzip", answers: replies(prefixed(1, compressed("\x08\x01")), "grpc-encoding", "gzip")},
		{
			name:    "message as large as may be",
			answers: replies(prefixed(0, "\x12\xfa\xff\x03"+strings.Repeat("x", 64<<10-6)+"\x08\x01")),
		},
	})
}

// continued sends a header block with one byte in each frame.
func (p *peer) continued(stream uint32, flags http2.Flags, block string) {
	p.frame(http2.FrameHeaders, flags, stream, block[:1])
	for i := 1; i < len(block)-1; i++ {
		p.frame(http2.FrameContinuation, 0, stream, block[i:i+1])
	}
	p.frame(http2.FrameContinuation, endHeaders, stream, block[len(block)-1:])
}

func TestConnectionsThatEndAfterTheAnswer(t *testing.T) {
	t.Parallel()
	meet(t, []encounter{
		{
			name:    "GOAWAY that lets the call end",
			answers: func(p *peer, id uint32) { _ = p.WriteGoAway(id, 0, nil); p.answer(id) },
		},
		{name: "GOAWAY in two steps", answers: func(p *peer, id uint32) {
			_ = p.WriteGoAway(1<<31-1, 0, nil)
			p.begin(id)
			_ = p.WriteGoAway(id, 0, []byte("bye"))
			p.data(id, serving)
			p.end(id, "grpc-status", "0")
		}},
		{
			name:    "GOAWAY for an error that lets the call end",
			answers: func(p *peer, id uint32) { _ = p.WriteGoAway(id, 11, nil); p.answer(id) },
		},
		{
			name:    "GOAWAY after the answer",
			answers: func(p *peer, id uint32) { p.answer(id); _ = p.WriteGoAway(id, 11, nil) },
		},
		{
			name:    "RST_STREAM after the answer",
			answers: func(p *peer, id uint32) { p.answer(id); _ = p.WriteRSTStream(id, 0) },
		},
		{name: "its reading half closed before", answers: func(p *peer, id uint32) {
			_ = p.Conn.(*net.TCPConn).CloseRead()
			p.answer(id)
		}},
		{name: "garbage after the answer", answers: func(p *peer, id uint32) {
			p.answer(id)
			p.raw("garbage")
		}},
	})
}

// opened reads to the headers of the next request.
func (p *peer) opened() {
	for {
		f, err := p.ReadFrame()
		if _, ok := f.(*http2.HeadersFrame); ok || err != nil {
			return
		}
	}
}

// trickle enlarges the window of a request by one byte with each frame, and hangs up if the client sends more than
// the window allows.
func (p *peer) trickle(window int) {
	for {
		f, err := p.ReadFrame()
		if err != nil {
			return
		}
		data, ok := f.(*http2.DataFrame)
		if ok {
			window -= len(data.Data())
		}
		if window < 0 {
			_ = p.Conn.Close()
			return
		}
		if ok && data.StreamEnded() {
			p.answer(data.StreamID)
			return
		}
		if id := f.Header().StreamID; id != 0 {
			_ = p.WriteWindowUpdate(id, 1)
			_ = p.WriteWindowUpdate(0, 1)
			window++
		}
	}
}

// expectSilence hangs up unless the client sends nothing but acknowledgements before it has read a PING.
func (p *peer) expectSilence() {
	_ = p.WritePing(false, [8]byte{})
	for {
		f, _ := p.ReadFrame()
		switch f.(type) {
		case *http2.PingFrame:
			return
		case *http2.SettingsFrame:
		default: // Another frame, or none.
			_ = p.Conn.Close()
			return
		}
	}
}

// refuse resets the streams of a client until it has read a PING.
func (p *peer) refuse(code http2.ErrCode) {
	_ = p.WritePing(false, [8]byte{})
	for {
		f, err := p.ReadFrame()
		if err != nil {
			return
		}
		switch f := f.(type) {
		case *http2.PingFrame:
			return
		case *http2.DataFrame:
			_ = p.WriteRSTStream(f.StreamID, code)
		}
	}
}

// opensLate returns a server that refuses a first stream, which its SETTINGS do not allow, and then allows one. A probe
// sends one before it knows, and a bridge does not.
func opensLate(code http2.ErrCode) func(*peer) {
	return func(p *peer) {
		_ = p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
		p.preface()
		p.refuse(code)
		p.expectSilence()
		_ = p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1})
		p.answer(p.request())
	}
}

func TestLimitsOfTheServer(t *testing.T) {
	t.Parallel()
	meet(t, []encounter{
		{
			name: "window a byte at a time", args: []string{"-service=" + strings.Repeat("a", 66_000)},
			greets: func(p *peer) {
				_ = p.WriteSettings()
				p.preface()
				p.trickle(65_535)
			},
		},
		{
			name: "window taken back, then a byte at a time", args: []string{"-service=" + strings.Repeat("a", 66_000)},
			greets: func(p *peer) {
				_ = p.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 65_000})
				_ = p.WriteWindowUpdate(0, 500)
				p.preface()
				p.opened() // a bridge opens its stream later than a probe
				_ = p.WriteWindowUpdate(1, 600)
				p.trickle(65_000 + 600)
			},
		},
		{name: "one stream at a time", args: []string{"-service=a", "-service=b", "-service=c"}, greets: func(p *peer) {
			_ = p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1})
			p.preface()
			for range 3 {
				id := p.request()
				p.expectSilence()
				p.answer(id)
			}
		}},
		{
			name: "no stream after the first", exit: 3, waits: true, says: "waited 300ms",
			args: []string{"-service=a", "-service=b"}, greets: func(p *peer) {
				_ = p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
				p.preface()
				p.answer(p.request())
			},
		},
		{name: "no stream at all", exit: 3, waits: true, says: "waited 300ms", greets: func(p *peer) {
			_ = p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
			p.preface()
			_ = p.WriteRSTStream(p.request(), http2.ErrCodeRefusedStream)
		}},
		{name: "no stream at first", greets: opensLate(http2.ErrCodeRefusedStream)},
		{name: "no stream at first, as an error of the protocol", greets: opensLate(http2.ErrCodeProtocol)},
		{name: "streams interleaved", args: []string{"-service=a", "-service=b"}, greets: func(p *peer) {
			_ = p.WriteSettings()
			p.preface()
			first, second := p.request(), p.request()
			p.begin(second)
			p.begin(first)
			for i := range len(serving) {
				p.data(first, serving[i:i+1])
				p.data(second, serving[i:i+1])
			}
			p.end(second, "grpc-status", "0")
			_ = p.WriteRSTStream(second, 0)
			p.end(first, "grpc-status", "0")
		}},
	})
}
