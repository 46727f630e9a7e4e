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
	o := check.New()
	o.Services, o.Addr = []string{""}, "unix:"+listener.Addr().String()
	o.Budget.ConnectTimeout, o.Budget.RPCTimeout = 2*patience, 2*patience
	if o.Address, err = address.Parse(o.Addr, address.AnyPort); err != nil {
		t.Fatal(err)
	}
	p := check.Prober{Transport: transport, Options: &o}
	ended := p.Run()
	return verdict(&ended)
}

// verdict is what has to be the same, whoever asks: the status, or the error that the server has sent.
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
		for _, patience := range []time.Duration{20 * time.Millisecond, 200 * time.Millisecond, 2 * time.Second, 10 * time.Second} {
			if own, full = replyTo(t, lean.Transport{}, play, patience), replyTo(t, grpcgo.Transport{}, play, patience); own == full {
				return
			}
		}
		t.Errorf("lean: %s, grpc-go: %s\n%q", own, full, play)
	})
}

// The parts of a good answer.
var (
	begins   = record(byte(http2.FrameSettings), 0, 0, "")
	ack      = record(byte(http2.FrameSettings), 1, 0, "")
	request  = record(afterRequest, 0, 0, "")
	headers  = record(wholeHeaders, 4, 1, ":status: 200\ncontent-type: application/grpc")
	answer   = record(message, 0, 1, "\x08\x01")
	trailers = record(wholeHeaders, 5, 1, "grpc-status: 0")
	good     = begins + request + ack + headers + answer + trailers
)

// plays are answers in which something is unusual, each with what it is.
var plays = map[string]string{
	"good":                                good,
	"coded":                               begins + request + record(codedHeaders, 4, 1, ":status: 200\ncontent-type: application/grpc") + answer + record(codedHeaders, 5, 1, "grpc-status: 0"),
	"not serving":                         begins + request + headers + record(message, 0, 1, "\x08\x02") + trailers,
	"error":                               begins + request + record(wholeHeaders, 5, 1, ":status: 200\ncontent-type: application/grpc\ngrpc-status: 12\ngrpc-message: a%20b"),
	"DATA on idle stream":                 begins + request + record(0, 0, 7, "x") + headers + answer + trailers,
	"DATA on even stream":                 begins + request + record(0, 0, 2, "x") + headers + answer + trailers,
	"RST of idle stream":                  begins + request + record(3, 0, 7, "\x00\x00\x00\x08") + headers + answer + trailers,
	"WINDOW of idle stream":               begins + request + record(8, 0, 7, "\x00\x00\x00\x08") + headers + answer + trailers,
	"HEADERS on idle stream":              begins + request + record(wholeHeaders, 4, 7, ":status: 200\ncontent-type: application/grpc") + headers + answer + trailers,
	"early acknowledgement":               record(4, 1, 0, "") + begins + request + headers + answer + trailers,
	"acknowledgement with a setting":      begins + record(4, 1, 0, "\x00\x03\x00\x00\x00\x01") + request + headers + answer + trailers,
	"SETTINGS on a stream":                begins + record(4, 0, 1, "") + request + headers + answer + trailers,
	"group":                               begins + request + headers + record(message, 0, 1, "\x13\x14\x08\x01") + trailers,
	"open group":                          begins + request + headers + record(message, 0, 1, "\x13\x08\x01") + trailers,
	"field 1 as bytes":                    begins + request + headers + record(message, 0, 1, "\x0a\x01\x01") + trailers,
	"long varint":                         begins + request + headers + record(message, 0, 1, "\x08\x81\x80\x80\x80\x80\x80\x80\x80\x80\x01") + trailers,
	"status +0":                           begins + request + headers + answer + record(wholeHeaders, 5, 1, "grpc-status: +0"),
	"status 00":                           begins + request + headers + answer + record(wholeHeaders, 5, 1, "grpc-status: 00"),
	"status -1":                           begins + request + headers + answer + record(wholeHeaders, 5, 1, "grpc-status: -1"),
	"status 4294967296":                   begins + request + headers + answer + record(wholeHeaders, 5, 1, "grpc-status: 4294967296"),
	"status empty":                        begins + request + headers + answer + record(wholeHeaders, 5, 1, "grpc-status: "),
	"no status":                           begins + request + headers + answer + record(wholeHeaders, 5, 1, "a: b"),
	"two statuses":                        begins + request + headers + answer + record(wholeHeaders, 5, 1, "grpc-status: 2\ngrpc-status: 0"),
	"two statuses, bad last":              begins + request + headers + answer + record(wholeHeaders, 5, 1, "grpc-status: 0\ngrpc-status: 2"),
	"status in headers":                   begins + request + record(wholeHeaders, 4, 1, ":status: 200\ncontent-type: application/grpc\ngrpc-status: 2") + answer + trailers,
	"second content-type":                 begins + request + record(wholeHeaders, 4, 1, ":status: 200\ncontent-type: application/grpc\ncontent-type: text/plain") + answer + trailers,
	"second content-type first":           begins + request + record(wholeHeaders, 4, 1, ":status: 200\ncontent-type: text/plain\ncontent-type: application/grpc") + answer + trailers,
	"content-type in capitals":            begins + request + record(wholeHeaders, 4, 1, ":status: 200\ncontent-type: Application/gRPC") + answer + trailers,
	"doubled pseudo-header":               begins + request + record(wholeHeaders, 4, 1, ":status: 200\n:status: 200\ncontent-type: application/grpc") + answer + trailers,
	"pseudo-header after":                 begins + request + record(wholeHeaders, 4, 1, "content-type: application/grpc\n:status: 200") + answer + trailers,
	"unknown pseudo-header":               begins + request + record(wholeHeaders, 4, 1, ":status: 200\n:a: b\ncontent-type: application/grpc") + answer + trailers,
	"request pseudo-header":               begins + request + record(wholeHeaders, 4, 1, ":status: 200\n:method: GET\ncontent-type: application/grpc") + answer + trailers,
	"pseudo-header in trailers":           begins + request + headers + answer + record(wholeHeaders, 5, 1, ":status: 200\ngrpc-status: 0"),
	"no :status":                          begins + request + record(wholeHeaders, 4, 1, "content-type: application/grpc") + answer + trailers,
	":status 99":                          begins + request + record(wholeHeaders, 4, 1, ":status: 99\ncontent-type: application/grpc") + answer + trailers,
	":status 2000":                        begins + request + record(wholeHeaders, 4, 1, ":status: 2000\ncontent-type: application/grpc") + answer + trailers,
	":status abc":                         begins + request + record(wholeHeaders, 4, 1, ":status: abc\ncontent-type: application/grpc") + answer + trailers,
	":status 100":                         begins + request + record(wholeHeaders, 4, 1, ":status: 100") + headers + answer + trailers,
	":status 100 ends":                    begins + request + record(wholeHeaders, 5, 1, ":status: 100"),
	":status 404":                         begins + request + record(wholeHeaders, 4, 1, ":status: 404\ncontent-type: application/grpc") + answer + trailers,
	":status 404 with status":             begins + request + record(wholeHeaders, 5, 1, ":status: 404\ncontent-type: application/grpc\ngrpc-status: 5"),
	"name in capitals":                    begins + request + record(wholeHeaders, 4, 1, ":status: 200\ncontent-type: application/grpc\nA: b") + answer + trailers,
	"name with space":                     begins + request + record(wholeHeaders, 4, 1, ":status: 200\ncontent-type: application/grpc\na b: c") + answer + trailers,
	"empty name":                          begins + request + record(wholeHeaders, 4, 1, ":status: 200\ncontent-type: application/grpc\n: c") + answer + trailers,
	"value with control":                  begins + request + record(wholeHeaders, 4, 1, ":status: 200\ncontent-type: application/grpc\na: \x01") + answer + trailers,
	"value beyond ASCII":                  begins + request + record(wholeHeaders, 4, 1, ":status: 200\ncontent-type: application/grpc\na: \xff") + answer + trailers,
	"bad base64":                          begins + request + record(wholeHeaders, 4, 1, ":status: 200\ncontent-type: application/grpc\na-bin: !") + answer + trailers,
	"padded base64":                       begins + request + record(wholeHeaders, 4, 1, ":status: 200\ncontent-type: application/grpc\na-bin: YQ==") + answer + trailers,
	"bad base64 in trailers":              begins + request + headers + answer + record(wholeHeaders, 5, 1, "grpc-status: 0\na-bin: !"),
	"bad details":                         begins + request + headers + answer + record(wholeHeaders, 5, 1, "grpc-status: 0\ngrpc-status-details-bin: !"),
	"details":                             begins + request + headers + answer + record(wholeHeaders, 5, 1, "grpc-status: 0\ngrpc-status-details-bin: CAU"),
	"connection header":                   begins + request + record(wholeHeaders, 4, 1, ":status: 200\ncontent-type: application/grpc\nconnection: close") + answer + trailers,
	"encoding identity":                   begins + request + record(wholeHeaders, 4, 1, ":status: 200\ncontent-type: application/grpc\ngrpc-encoding: identity") + answer + trailers,
	"encoding unknown":                    begins + request + record(wholeHeaders, 4, 1, ":status: 200\ncontent-type: application/grpc\ngrpc-encoding: a") + answer + trailers,
	"compressed without encoding":         begins + request + headers + record(0, 0, 1, "\x01\x00\x00\x00\x02\x08\x01") + trailers,
	"short PRIORITY":                      begins + request + record(2, 0, 1, "\x00\x00\x00\x00") + headers + answer + trailers,
	"PRIORITY of stream 0":                begins + request + record(2, 0, 0, "\x00\x00\x00\x00\x00") + headers + answer + trailers,
	"short PING":                          begins + request + record(6, 0, 0, "\x00") + headers + answer + trailers,
	"PING on a stream":                    begins + request + record(6, 0, 1, "\x00\x00\x00\x00\x00\x00\x00\x00") + headers + answer + trailers,
	"WINDOW_UPDATE of 0":                  begins + request + record(8, 0, 0, "\x00\x00\x00\x00") + headers + answer + trailers,
	"WINDOW_UPDATE of 0 on the stream":    begins + request + record(8, 0, 1, "\x00\x00\x00\x00") + headers + answer + trailers,
	"unknown frame":                       begins + request + record(200, 0, 1, "a") + headers + answer + trailers,
	"PUSH_PROMISE":                        begins + request + record(5, 4, 1, "\x00\x00\x00\x02\x82") + headers + answer + trailers,
	"CONTINUATION alone":                  begins + request + record(9, 4, 1, "\x88") + headers + answer + trailers,
	"GOAWAY":                              begins + request + record(7, 0, 0, "\x00\x00\x00\x01\x00\x00\x00\x00") + headers + answer + trailers,
	"GOAWAY of 0":                         begins + request + record(7, 0, 0, "\x00\x00\x00\x00\x00\x00\x00\x00") + headers + answer + trailers,
	"GOAWAY with SETTINGS":                begins + record(7, 0, 0, "\x00\x00\x00\x01\x00\x00\x00\x00") + request + headers + answer + trailers,
	"GOAWAY first":                        record(7, 0, 0, "\x00\x00\x00\x01\x00\x00\x00\x00") + begins + request + headers + answer + trailers,
	"resize in mid-block":                 begins + request + record(1, 4, 1, "\x88\x20\x5f\x10application/grpc") + answer + trailers,
	"resize at the end":                   begins + request + record(1, 4, 1, "\x88\x5f\x10application/grpc\x20") + answer + trailers,
	"three resizes":                       begins + request + record(1, 4, 1, "\x20\x21\x20\x88\x5f\x10application/grpc") + answer + trailers,
	"large resize":                        begins + request + record(1, 4, 1, "\x3f\xe2\x1f\x88\x5f\x10application/grpc") + answer + trailers,
	"integer of 6 bytes":                  begins + request + record(1, 4, 1, "\x88\x5f\x7f\x80\x80\x80\x80\x00"+strings.Repeat("a", 127)) + answer + trailers,
	"content-length of 6 bytes":           begins + request + record(1, 4, 1, "\x88\x5f\x10application/grpc\x40\x01a\x7f\x80\x80\x80\x80\x00"+strings.Repeat("a", 127)) + answer + trailers,
	"index 0":                             begins + request + record(1, 4, 1, "\x80\x88\x5f\x10application/grpc") + answer + trailers,
	"two messages":                        begins + request + headers + answer + answer + trailers,
	"no message":                          begins + request + headers + trailers,
	"half a message":                      begins + request + headers + record(0, 0, 1, "\x00\x00\x00\x00\x03\x08\x01") + trailers,
	"DATA ends":                           begins + request + headers + record(message, 1, 1, "\x08\x01"),
	"DATA before HEADERS":                 begins + request + answer + headers + trailers,
	"headers twice":                       begins + request + headers + headers + answer + trailers,
	"after the end":                       good + answer + trailers,
	"RST with NO_ERROR after":             good + record(3, 0, 1, "\x00\x00\x00\x00"),
	"RST before trailers":                 begins + request + headers + answer + record(3, 0, 1, "\x00\x00\x00\x00"),
	"padding":                             begins + request + headers + record(0, 8, 1, "\x02\x00\x00\x00\x00\x02\x08\x01aa") + trailers,
	"too much padding":                    begins + request + headers + record(0, 8, 1, "\x7f\x00\x00\x00\x00\x02\x08\x01aa") + trailers,
	"padding that is not zero in HEADERS": begins + request + record(1, 12, 1, "\x02\x88\x5f\x10application/grpcaa") + answer + trailers,
	"priority in HEADERS":                 begins + request + record(1, 0x24, 1, "\x00\x00\x00\x00\x00\x88\x5f\x10application/grpc") + answer + trailers,
	"short priority in HEADERS":           begins + request + record(1, 0x24, 1, "\x00\x00\x00\x00") + answer + trailers,
	"continued":                           begins + request + record(1, 0, 1, "\x88") + record(9, 4, 1, "\x5f\x10application/grpc") + answer + trailers,
	"continued on another stream":         begins + request + record(1, 0, 1, "\x88") + record(9, 4, 3, "\x5f\x10application/grpc") + answer + trailers,
	"HTTP/1.1":                            record(rawBytes, 0, 0, "HTTP/1.1 400 Bad Request\r\n\r\n"),
	"push enabled":                        record(4, 0, 0, "\x00\x02\x00\x00\x00\x01") + request + headers + answer + trailers,
	"push of 2":                           record(4, 0, 0, "\x00\x02\x00\x00\x00\x02") + request + headers + answer + trailers,
	"small frame size":                    record(4, 0, 0, "\x00\x05\x00\x00\x00\x01") + request + headers + answer + trailers,
	"large window":                        record(4, 0, 0, "\x00\x04\xff\xff\xff\xff") + request + headers + answer + trailers,
	"unknown setting":                     record(4, 0, 0, "\x12\x34\xff\xff\xff\xff") + request + headers + answer + trailers,
	"SETTINGS of 5 bytes":                 record(4, 0, 0, "\x00\x04\xff\xff\xff") + request + headers + answer + trailers,
	"DATA first":                          record(0, 0, 0, "") + begins + request + headers + answer + trailers,
}
