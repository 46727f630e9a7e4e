package probetest

import (
	"bytes"
	"io"
	"net"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// oddServers speak HTTP/2 in ways that are rare for gRPC servers, or forbidden, by protocol. before is the number of
// earlier connections.
var oddServers = map[string]func(p *peer, before int){
	"goaway":        func(p *peer, _ int) { p.goAway() },
	"ping":          func(p *peer, _ int) { _ = p.WritePing(false, [8]byte{}) },
	"ack":           func(p *peer, _ int) { _ = p.WriteSettingsAck() },
	"leaving":       func(p *peer, _ int) { _ = p.WriteSettings(); p.goAway() },
	"leaving-once":  leaveOnce,
	"leaving-late":  func(p *peer, _ int) { _ = p.WriteSettings(); p.request(); p.goAway() },
	"leaving-then":  leaveThenAnswer,
	"refusing-once": refuseOnce,
	"leaving-taken": leaveAndAnswer(),
	"leaving-one":   leaveAndAnswer(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1}),
	"closing":       func(p *peer, _ int) { _ = p.WriteSettings(); p.request(); _ = p.conn.Close() },
	"closing-once":  closeOnce,
	"opening-late":  openLate,
	"no-status":     func(p *peer, _ int) { p.reply(serving, nil) },
	"only-headers":  func(p *peer, _ int) { p.serve(func(id uint32) { p.headers(id, true, startOfAnswer) }) },
	"bad-status":    func(p *peer, _ int) { p.reply(serving, []string{"grpc-status", "fine"}) },
	"no-trailers":   func(p *peer, _ int) { p.serve(p.endWithData) },
	"no-message":    func(p *peer, _ int) { p.reply("", []string{"grpc-status", "0"}) },
	"half-message":  func(p *peer, _ int) { p.reply(serving[:6], []string{"grpc-status", "0"}) },
	"half-error":    func(p *peer, _ int) { p.reply(serving[:6], []string{"grpc-status", "14"}) },
	"two-messages":  func(p *peer, _ int) { p.reply(serving+serving, []string{"grpc-status", "0"}) },
	"no-protobuf":   func(p *peer, _ int) { p.reply("\x00\x00\x00\x00\x01\xff", []string{"grpc-status", "0"}) },
	"plain-error":   func(p *peer, _ int) { p.reply("", []string{"grpc-status", "2"}) },
}

// serving is a whole answer: the prefix of the message, and field 1 with the value 1.
const serving = "\x00\x00\x00\x00\x02\x08\x01"

var startOfAnswer = []string{":status", "200", "content-type", "application/grpc"}

// peer is the server's end of an HTTP/2 connection.
type peer struct {
	*http2.Framer
	conn  net.Conn
	block bytes.Buffer
	hpack *hpack.Encoder
}

func speakOddly(conn net.Conn, speak func(*peer, int), before int) {
	defer func() { _ = conn.Close() }()
	p := &peer{Framer: http2.NewFramer(conn, conn), conn: conn}
	p.hpack = hpack.NewEncoder(&p.block)
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err == nil {
		speak(p, before)
	}
	_, _ = io.Copy(io.Discard, conn)
}

// goAway tells the client that no call was processed.
func (p *peer) goAway() { _ = p.WriteGoAway(0, http2.ErrCodeNo, []byte("bye")) }

// request reads to the end of the next request, and returns the stream, or 0 if the client has gone.
func (p *peer) request() uint32 {
	for {
		frame, err := p.ReadFrame()
		if err != nil {
			return 0
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = p.WriteSettingsAck()
			}
		case *http2.DataFrame:
			if frame.StreamEnded() {
				return frame.StreamID
			}
		}
	}
}

func (p *peer) serve(answer func(stream uint32)) {
	_ = p.WriteSettings()
	for id := p.request(); id != 0; id = p.request() {
		answer(id)
	}
}

// reply answers each request with a body and trailers.
func (p *peer) reply(body string, trailers []string) {
	p.serve(func(id uint32) { p.end(id, body, trailers) })
}

func (p *peer) end(id uint32, body string, trailers []string) {
	p.headers(id, false, startOfAnswer)
	_ = p.WriteData(id, false, []byte(body))
	p.headers(id, true, trailers)
}

func (p *peer) headers(id uint32, ends bool, pairs []string) {
	p.block.Reset()
	for i := 0; i < len(pairs); i += 2 {
		_ = p.hpack.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]}) // a buffer takes everything
	}
	_ = p.WriteHeaders(http2.HeadersFrameParam{
		StreamID: id, BlockFragment: p.block.Bytes(), EndHeaders: true,
		EndStream: ends,
	})
}

func (p *peer) endWithData(id uint32) {
	p.headers(id, false, startOfAnswer)
	_ = p.WriteData(id, true, []byte(serving))
}

func (p *peer) answers() { p.serve(p.answer) }

func (p *peer) answer(id uint32) { p.end(id, serving, []string{"grpc-status", "0"}) }

func leaveOnce(p *peer, before int) {
	if before > 0 {
		p.answers()
		return
	}
	_ = p.WriteSettings()
	p.goAway()
}

func closeOnce(p *peer, before int) {
	if before > 0 {
		p.answers()
		return
	}
	_ = p.WriteSettings()
	_ = p.conn.Close()
}

// leaveAndAnswer returns a server that sends GOAWAY with the settings, and answers the accepted calls.
func leaveAndAnswer(settings ...http2.Setting) func(*peer, int) {
	return func(p *peer, _ int) {
		var both bytes.Buffer
		framer := http2.NewFramer(&both, nil)
		_ = framer.WriteSettings(settings...)
		_ = framer.WriteGoAway(1<<31-1, http2.ErrCodeNo, nil)
		_, _ = p.conn.Write(both.Bytes())
		for id := p.request(); id != 0; id = p.request() {
			p.answer(id)
		}
	}
}

// leaveThenAnswer sends GOAWAY, which lets the call end, and then the answer.
func leaveThenAnswer(p *peer, _ int) {
	p.serve(func(id uint32) {
		_ = p.WriteGoAway(id, http2.ErrCodeNo, nil)
		p.answer(id)
	})
}

func refuseOnce(p *peer, _ int) {
	_ = p.WriteSettings()
	_ = p.WriteRSTStream(p.request(), http2.ErrCodeRefusedStream)
	p.answers()
}

// openLate allows no call at first. A call sent before the SETTINGS had come is refused.
func openLate(p *peer, _ int) {
	_ = p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
	_ = p.WritePing(false, [8]byte{1})
	for {
		frame, err := p.ReadFrame()
		if err != nil {
			return
		}
		if data, ok := frame.(*http2.DataFrame); ok {
			_ = p.WriteRSTStream(data.StreamID, http2.ErrCodeRefusedStream)
		}
		if ping, ok := frame.(*http2.PingFrame); ok && ping.IsAck() {
			break
		}
	}
	_ = p.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 1})
	p.answers()
}
