package bridge

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/http2"
)

var startOfAnswer = []string{":status", "200", "content-type", "application/grpc"}

// headers queues a header block. Each name is followed by its value.
func (st *stream) headers(flags uint8, fields []string) error {
	c := st.conn
	var block []byte
	if c.http2.smallTable {
		c.http2.smallTable, block = false, http2.AppendTableSizeZero(block)
	}
	for pair := range slices.Chunk(fields, 2) {
		block = http2.AppendField(block, pair[0], pair[1])
	}
	return write(c, http2.AppendFrame(nil, http2.FrameHeaders, flags|http2.FlagEndHeaders, st.id, block))
}

// fits reports whether the caller takes so many bytes of DATA now. The bridge queues none for later.
func (st *stream) fits(length int) bool {
	return int64(length) <= min(st.window, st.conn.http2.connWindow, http2.MaxFrameSize)
}

func (st *stream) data(flags uint8, text string) error {
	c := st.conn
	n := len(text)
	st.window -= int64(n)
	c.http2.connWindow -= int64(n)
	header := http2.AppendFrame(nil, http2.FrameData, flags, st.id, nil)
	header[0], header[1], header[2] = byte(n>>16), byte(n>>8), byte(n)
	if err := write(c, header); err != nil {
		return err
	}
	return write(c, text)
}

// send sends a message of a call, after the headers if the message is the first.
func (st *stream) send(first bool, message []byte) error {
	b := make([]byte, 5, 5+len(message))
	binary.BigEndian.PutUint32(b[1:], uint32(len(message)))
	b = append(b, message...)
	if !st.fits(len(b)) {
		return st.fail(codeResourceExhausted, "the caller's window is too small for the answer")
	}
	if first {
		if err := st.headers(0, startOfAnswer); err != nil {
			return err
		}
	}
	return st.data(0, string(b))
}

func (st *stream) succeed(message []byte) error {
	if err := st.send(true, message); err != nil || st.wants == wantsNone {
		return err
	}
	if err := st.headers(http2.FlagEndStream, []string{"grpc-status", "0"}); err != nil {
		return err
	}
	return st.finish()
}

// fail ends a call with an error, whose message needs no escapes.
func (st *stream) fail(code outcome.Code, message string) error {
	fields := slices.Clip(startOfAnswer)
	if st.watch.sent {
		fields = nil // the first status came after them
	}
	fields = append(fields, "grpc-status", strconv.Itoa(int(code)), "grpc-message", message)
	if err := st.headers(http2.FlagEndStream, fields); err != nil {
		return err
	}
	return st.finish()
}

// finish frees a stream after the answer, and stops a caller who is still sending the request (RFC 9113 section 8.1).
func (st *stream) finish() error {
	st.close()
	if st.ended {
		return nil
	}
	return write(st.conn, http2.AppendFrame(nil, http2.FrameRSTStream, 0, st.id, []byte{0, 0, 0, http2.CodeNoError}))
}

func (st *stream) sendPageHTTP2(p page, body string) error {
	fields := []string{":status", strconv.Itoa(p.status)}
	p.fields(func(name, value string) { fields = append(fields, name, value) })
	if !st.fits(len(body)) {
		return st.conn.resetStream(st.id, http2.CodeFlowControl)
	}
	if body == "" {
		if err := st.headers(http2.FlagEndStream, fields); err != nil {
			return err
		}
		return st.finish()
	}
	if err := st.headers(0, fields); err != nil {
		return err
	}
	if err := st.data(http2.FlagEndStream, body); err != nil {
		return err
	}
	return st.finish()
}
