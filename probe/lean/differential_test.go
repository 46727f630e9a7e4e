package lean_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/grpcgo"
	"github.com/grpc-cnb/health-probe/probe/lean"
)

// A play is what a server sends on each connection, whatever the client sends: records of four bytes and a payload. The
// bytes are the kind, the flags and the stream of a frame, and the length of the payload. The kinds that are not types
// of frames are these.
const (
	wholeHeaders = 'H' // HEADERS of lines "name: value", literals with indexing
	codedHeaders = 'C' // the same, in the shortest coding
	message      = 'M' // DATA with a gRPC message
	rawBytes     = 'R' // bytes that are no frame
	afterRequest = '|' // what follows is sent once the request has come
)

// http2FrameHeader is the length of what each frame begins with.
const http2FrameHeader = 9

// record writes a record of a play.
func record(kind, flags, stream byte, payload string) string {
	return string([]byte{kind, flags, stream, byte(len(payload))}) + payload
}

// acts returns the bytes that are sent at once, and those that are sent once the request has come.
func acts(play []byte) (before, after []byte) {
	act := &before
	var coded bytes.Buffer
	encoder := hpack.NewEncoder(&coded)
	for len(play) >= 4 {
		kind, flags, stream := play[0], play[1], uint32(play[2])
		payload := play[4:min(len(play), 4+int(play[3]))]
		play = play[4+len(payload):]
		// An answer before its request depends on timing: grpc-go has no call yet that it could belong to.
		if act == &before && (stream != 0 || kind == rawBytes && bytes.HasPrefix(payload, []byte{0})) {
			continue
		}
		switch kind {
		case afterRequest:
			act = &after
			continue
		case rawBytes:
			*act = append(*act, payload...)
			continue
		case wholeHeaders, codedHeaders:
			coded.Reset()
			var literals []byte
			for line := range strings.SplitSeq(string(payload), "\n") {
				name, value, _ := strings.Cut(line, ": ")
				literals = append(append(literals, 0x40, byte(len(name)&63)), name[:len(name)&63]...)
				literals = append(append(literals, byte(len(value)&63)), value[:len(value)&63]...)
				_ = encoder.WriteField(hpack.HeaderField{Name: name, Value: value}) // to memory
			}
			payload = literals
			if kind == codedHeaders {
				payload = coded.Bytes()
			}
			kind = byte(http2.FrameHeaders)
		case message:
			payload = append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(payload))), payload...)
			kind = byte(http2.FrameData)
		}
		*act = append(*act, byte(len(payload)>>16), byte(len(payload)>>8), byte(len(payload)), kind, flags)
		*act = append(binary.BigEndian.AppendUint32(*act, stream), payload...)
	}
	return before, after
}

// perform plays on one connection, and ends it.
func perform(conn net.Conn, play []byte, patience time.Duration) {
	defer conn.Close()
	before, after := acts(play)
	if _, err := conn.Write(before); err != nil {
		return
	}
	_ = conn.SetReadDeadline(time.Now().Add(patience)) // then the client waits for something that does not come
	if len(after) > 0 && awaitRequest(conn) != nil {
		return
	}
	_, _ = conn.Write(after) // the client may have gone
	// It closes once the client has read everything, since closing before would take unread bytes away from it.
	_ = conn.(*net.UnixConn).CloseWrite()
	_, _ = io.Copy(io.Discard, conn)
}

// awaitRequest reads until a request has come completely.
func awaitRequest(conn net.Conn) error {
	if _, err := io.ReadFull(conn, make([]byte, len(http2.ClientPreface))); err != nil {
		return err
	}
	framer := http2.NewFramer(io.Discard, conn)
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			return err
		}
		if data, ok := frame.(*http2.DataFrame); ok && data.StreamEnded() {
			return nil
		}
	}
}

// replyTo lets a transport ask a server that plays to every client. It returns what the probe has found out.
func replyTo(t testing.TB, transport check.Transport, play []byte, patience time.Duration) string {
	t.Helper()
	listener, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go perform(conn, play, patience)
		}
	}()
	o := options.New()
	o.Services, o.Addr = []string{""}, "unix:"+listener.Addr().String()
	o.Budget.ConnectTimeout, o.Budget.RPCTimeout = 2*patience, 2*patience
	if o.Address, err = address.Parse(o.Addr, address.AnyPort); err != nil {
		t.Fatal(err)
	}
	p := check.Prober{Transport: transport, Options: &o}
	ended := p.Run()
	return verdict(ended)
}

// verdict is what has to be the same for both clients: the status, or the error that the server has sent.
func verdict(o *outcome.Outcome) string {
	if len(o.Report.Answers) != 1 {
		return "no answer"
	}
	answer := o.Report.Answers[0]
	if answer.Err == nil {
		return answer.Status.String()
	}
	if failed, ok := errors.AsType[*outcome.RPCError](answer.Err); ok && failed.Answered {
		return "error " + failed.Code.String()
	}
	return "no answer"
}

// What a server sends has the same meaning for lean as for grpc-go: neither says SERVING if the other would not.
func FuzzAgainstGRPCGo(f *testing.F) {
	for _, play := range plays {
		f.Add([]byte(play))
	}
	f.Fuzz(func(t *testing.T, play []byte) {
		// Without SETTINGS grpc-go makes no call, but lean has sent its own by then.
		if before, _ := acts(play); len(before) < http2FrameHeader || len(play) > 4096 {
			return
		}
		// A machine that is busy can make a client give up, so what differs is tried again with more patience.
		var own, full string
		for _, patience := range []time.Duration{
			20 * time.Millisecond, 200 * time.Millisecond, 2 * time.Second, 10 * time.Second,
		} {
			own = replyTo(t, lean.Transport{}, play, patience)
			full = replyTo(t, grpcgo.Transport{}, play, patience)
			if own == full {
				return
			}
		}
		t.Errorf("lean: %s, grpc-go: %s\n%q", own, full, play)
	})
}

// accepted are the headers of a good answer.
const accepted = ":status: 200\ncontent-type: application/grpc"

// The parts of a good answer.
var (
	begins   = record(byte(http2.FrameSettings), 0, 0, "")
	ack      = record(byte(http2.FrameSettings), 1, 0, "")
	request  = record(afterRequest, 0, 0, "")
	headers  = record(wholeHeaders, 4, 1, accepted)
	answer   = record(message, 0, 1, "\x08\x01")
	trailers = record(wholeHeaders, 5, 1, "grpc-status: 0")
	good     = begins + request + ack + headers + answer + trailers
)

// beforeRequest returns a good answer that begins with something else, before the request.
func beforeRequest(start string) string { return start + request + headers + answer + trailers }

// atFirst returns a good answer with a frame before its headers.
func atFirst(frame string) string { return begins + request + frame + headers + answer + trailers }

// withHeaders returns an answer with other headers, one per line.
func withHeaders(lines string) string {
	return begins + request + record(wholeHeaders, 4, 1, lines) + answer + trailers
}

// alsoHeader returns an answer with one more header.
func alsoHeader(line string) string { return withHeaders(accepted + "\n" + line) }

// withBlock returns an answer with another HEADERS frame.
func withBlock(flags byte, payload string) string {
	return begins + request + record(byte(http2.FrameHeaders), flags, 1, payload) + answer + trailers
}

// withAnswer returns an answer with another frame in place of the message.
func withAnswer(frame string) string { return begins + request + headers + frame + trailers }

// withTrailers returns an answer with other trailers, one per line.
func withTrailers(lines string) string {
	return begins + request + headers + answer + record(wholeHeaders, 5, 1, lines)
}

// plays are answers in which something is unusual, each with what it is.
var plays = map[string]string{
	"good": good,
	"coded": begins + request + record(codedHeaders, 4, 1, accepted) + answer +
		record(codedHeaders, 5, 1, "grpc-status: 0"),
	"not serving": withAnswer(record(message, 0, 1, "\x08\x02")),
	"error": begins + request +
		record(wholeHeaders, 5, 1, accepted+"\ngrpc-status: 12\ngrpc-message: a%20b"),
	"DATA on idle stream":            atFirst(record(0, 0, 7, "x")),
	"DATA on even stream":            atFirst(record(0, 0, 2, "x")),
	"RST of idle stream":             atFirst(record(3, 0, 7, "\x00\x00\x00\x08")),
	"WINDOW of idle stream":          atFirst(record(8, 0, 7, "\x00\x00\x00\x08")),
	"HEADERS on idle stream":         atFirst(record(wholeHeaders, 4, 7, accepted)),
	"early acknowledgement":          beforeRequest(record(4, 1, 0, "") + begins),
	"acknowledgement with a setting": beforeRequest(begins + record(4, 1, 0, "\x00\x03\x00\x00\x00\x01")),
	"SETTINGS on a stream":           beforeRequest(begins + record(4, 0, 1, "")),
	"group":                          withAnswer(record(message, 0, 1, "\x13\x14\x08\x01")),
	"open group":                     withAnswer(record(message, 0, 1, "\x13\x08\x01")),
	"field 1 as bytes":               withAnswer(record(message, 0, 1, "\x0a\x01\x01")),
	"long varint":                    withAnswer(record(message, 0, 1, "\x08\x81\x80\x80\x80\x80\x80\x80\x80\x80\x01")),
	"HTTP status 10K":                atFirst(record(wholeHeaders, 4, 1, ":status: 10K")),
	"HTTP status 103":                atFirst(record(wholeHeaders, 4, 1, ":status: 103")),
	"HTTP status 0103":               atFirst(record(wholeHeaders, 4, 1, ":status: 0103")),
	"status +0":                      withTrailers("grpc-status: +0"),
	"status 00":                      withTrailers("grpc-status: 00"),
	"status -1":                      withTrailers("grpc-status: -1"),
	"status 4294967296":              withTrailers("grpc-status: 4294967296"),
	"status empty":                   withTrailers("grpc-status: "),
	"no status":                      withTrailers("a: b"),
	"two statuses":                   withTrailers("grpc-status: 2\ngrpc-status: 0"),
	"two statuses, bad last":         withTrailers("grpc-status: 0\ngrpc-status: 2"),
	"status in headers":              alsoHeader("grpc-status: 2"),
	"second content-type":            alsoHeader("content-type: text/plain"),
	"second content-type first": withHeaders(":status: 200\ncontent-type: text/plain\n" +
		"content-type: application/grpc"),
	"content-type with more":    withHeaders(":status: 200\ncontent-type: application/grpc;charset=utf-8"),
	"content-type of another":   withHeaders(":status: 200\ncontent-type: application/grpc-web"),
	"content-type in capitals":  withHeaders(":status: 200\ncontent-type: Application/gRPC"),
	"doubled pseudo-header":     withHeaders(":status: 200\n:status: 200\ncontent-type: application/grpc"),
	"pseudo-header after":       withHeaders("content-type: application/grpc\n:status: 200"),
	"unknown pseudo-header":     withHeaders(":status: 200\n:a: b\ncontent-type: application/grpc"),
	"request pseudo-header":     withHeaders(":status: 200\n:method: GET\ncontent-type: application/grpc"),
	"pseudo-header in trailers": withTrailers(":status: 200\ngrpc-status: 0"),
	"no :status":                withHeaders("content-type: application/grpc"),
	":status 99":                withHeaders(":status: 99\ncontent-type: application/grpc"),
	":status 2000":              withHeaders(":status: 2000\ncontent-type: application/grpc"),
	":status abc":               withHeaders(":status: abc\ncontent-type: application/grpc"),
	":status 100":               atFirst(record(wholeHeaders, 4, 1, ":status: 100")),
	":status 100 ends":          begins + request + record(wholeHeaders, 5, 1, ":status: 100"),
	":status 404":               withHeaders(":status: 404\ncontent-type: application/grpc"),
	":status 404 with status": begins + request +
		record(wholeHeaders, 5, 1, ":status: 404\ncontent-type: application/grpc\ngrpc-status: 5"),
	"name in capitals":                 alsoHeader("A: b"),
	"name with space":                  alsoHeader("a b: c"),
	"empty name":                       alsoHeader(": c"),
	"value with control":               alsoHeader("a: \x01"),
	"value beyond ASCII":               alsoHeader("a: \xff"),
	"bad base64":                       alsoHeader("a-bin: !"),
	"padded base64":                    alsoHeader("a-bin: YQ=="),
	"bad base64 in trailers":           withTrailers("grpc-status: 0\na-bin: !"),
	"bad details":                      withTrailers("grpc-status: 0\ngrpc-status-details-bin: !"),
	"details":                          withTrailers("grpc-status: 0\ngrpc-status-details-bin: CAU"),
	"connection header":                alsoHeader("connection: close"),
	"encoding identity":                alsoHeader("grpc-encoding: identity"),
	"encoding unknown":                 alsoHeader("grpc-encoding: a"),
	"compressed without encoding":      withAnswer(record(0, 0, 1, "\x01\x00\x00\x00\x02\x08\x01")),
	"short PRIORITY":                   atFirst(record(2, 0, 1, "\x00\x00\x00\x00")),
	"PRIORITY of stream 0":             atFirst(record(2, 0, 0, "\x00\x00\x00\x00\x00")),
	"short PING":                       atFirst(record(6, 0, 0, "\x00")),
	"PING on a stream":                 atFirst(record(6, 0, 1, "\x00\x00\x00\x00\x00\x00\x00\x00")),
	"WINDOW_UPDATE of 0":               atFirst(record(8, 0, 0, "\x00\x00\x00\x00")),
	"WINDOW_UPDATE of 0 on the stream": atFirst(record(8, 0, 1, "\x00\x00\x00\x00")),
	"PRIORITY_UPDATE":                  atFirst(record(16, 0, 0, "\x00\x00\x00\x01u=1")),
	"PRIORITY_UPDATE on a stream":      atFirst(record(16, 0, 1, "\x00\x00\x00\x01u=1")),
	"PRIORITY_UPDATE of stream 0":      atFirst(record(16, 0, 0, "\x80\x00\x00\x00u=1")),
	"short PRIORITY_UPDATE":            atFirst(record(16, 0, 0, "\x00\x00\x01")),
	"large WINDOW_UPDATE":              atFirst(record(8, 0, 0, "\x7f\xff\xff\xff")),
	"large WINDOW_UPDATE on stream":    atFirst(record(8, 0, 1, "\x7f\xff\xff\xff")),
	"reserved bit in WINDOW_UPDATE":    atFirst(record(8, 0, 0, "\x80\x00\x00\x00")),
	"unknown frame":                    atFirst(record(200, 0, 1, "a")),
	"PUSH_PROMISE":                     atFirst(record(5, 4, 1, "\x00\x00\x00\x02\x82")),
	"CONTINUATION alone":               atFirst(record(9, 4, 1, "\x88")),
	"GOAWAY":                           atFirst(record(7, 0, 0, "\x00\x00\x00\x01\x00\x00\x00\x00")),
	"GOAWAY of 0":                      atFirst(record(7, 0, 0, "\x00\x00\x00\x00\x00\x00\x00\x00")),
	"GOAWAY with SETTINGS":             beforeRequest(begins + record(7, 0, 0, "\x00\x00\x00\x01\x00\x00\x00\x00")),
	"GOAWAY first":                     beforeRequest(record(7, 0, 0, "\x00\x00\x00\x01\x00\x00\x00\x00") + begins),
	"resize in mid-block":              withBlock(4, "\x88\x20\x5f\x10application/grpc"),
	"resize at the end":                withBlock(4, "\x88\x5f\x10application/grpc\x20"),
	"three resizes":                    withBlock(4, "\x20\x21\x20\x88\x5f\x10application/grpc"),
	"large resize":                     withBlock(4, "\x3f\xe2\x1f\x88\x5f\x10application/grpc"),
	"integer of 6 bytes":               withBlock(4, "\x88\x5f\x7f\x80\x80\x80\x80\x00"+strings.Repeat("a", 127)),
	"content-length of 6 bytes": withBlock(4,
		"\x88\x5f\x10application/grpc\x40\x01a\x7f\x80\x80\x80\x80\x00"+strings.Repeat("a", 127)),
	"index 0":      withBlock(4, "\x80\x88\x5f\x10application/grpc"),
	"two messages": begins + request + headers + answer + answer + trailers,
	"two messages and an error": begins + request + headers + answer + answer +
		record(wholeHeaders, 5, 1, "grpc-status: 6"),
	"a message and an error":              withTrailers("grpc-status: 6"),
	"no message and an error":             begins + request + headers + record(wholeHeaders, 5, 1, "grpc-status: 6"),
	"no message":                          begins + request + headers + trailers,
	"half a message":                      withAnswer(record(0, 0, 1, "\x00\x00\x00\x00\x03\x08\x01")),
	"DATA ends":                           begins + request + headers + record(message, 1, 1, "\x08\x01"),
	"DATA before HEADERS":                 begins + request + answer + headers + trailers,
	"headers twice":                       begins + request + headers + headers + answer + trailers,
	"after the end":                       good + answer + trailers,
	"RST with NO_ERROR after":             good + record(3, 0, 1, "\x00\x00\x00\x00"),
	"RST before trailers":                 begins + request + headers + answer + record(3, 0, 1, "\x00\x00\x00\x00"),
	"padding":                             withAnswer(record(0, 8, 1, "\x02\x00\x00\x00\x00\x02\x08\x01aa")),
	"too much padding":                    withAnswer(record(0, 8, 1, "\x7f\x00\x00\x00\x00\x02\x08\x01aa")),
	"padding that is not zero in HEADERS": withBlock(12, "\x02\x88\x5f\x10application/grpcaa"),
	"too much padding in HEADERS":         withBlock(12, "\x7f\x88\x5f\x10application/grpc"),
	"too much padding in idle HEADERS":    atFirst(record(1, 12, 3, "\x7f\x88")),
	"too much padding, continued":         atFirst(record(1, 8, 3, "\x7f\x88") + record(9, 4, 3, "\x80")),
	"too much padding in half HEADERS":    atFirst(record(1, 8, 3, "\x7f\x88")),
	"padding without HEADERS":             atFirst(record(1, 12, 3, "")),
	"priority in HEADERS":                 withBlock(0x24, "\x00\x00\x00\x00\x00\x88\x5f\x10application/grpc"),
	"short priority in HEADERS":           withBlock(0x24, "\x00\x00\x00\x00"),
	"continued": begins + request + record(1, 0, 1, "\x88") +
		record(9, 4, 1, "\x5f\x10application/grpc") + answer + trailers,
	"continued on another stream": begins + request + record(1, 0, 1, "\x88") +
		record(9, 4, 3, "\x5f\x10application/grpc") + answer + trailers,
	"HTTP/1.1":            record(rawBytes, 0, 0, "HTTP/1.1 400 Bad Request\r\n\r\n"),
	"push enabled":        beforeRequest(record(4, 0, 0, "\x00\x02\x00\x00\x00\x01")),
	"push of 2":           beforeRequest(record(4, 0, 0, "\x00\x02\x00\x00\x00\x02")),
	"small frame size":    beforeRequest(record(4, 0, 0, "\x00\x05\x00\x00\x00\x01")),
	"large window":        beforeRequest(record(4, 0, 0, "\x00\x04\xff\xff\xff\xff")),
	"unknown setting":     beforeRequest(record(4, 0, 0, "\x12\x34\xff\xff\xff\xff")),
	"SETTINGS of 5 bytes": beforeRequest(record(4, 0, 0, "\x00\x04\xff\xff\xff")),
	"DATA first":          beforeRequest(record(0, 0, 0, "") + begins),
}
