package bridge

import (
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/http2"
)

// streamWindow is how much a caller may send of a request unread: a message of the greatest size, and what a caller
// sends of a greater one before it is told.
const streamWindow = 4 << 10

// session is what a connection of HTTP/2 has beside its streams (RFC 9113, of the server's side).
type session struct {
	block       [maxHead]byte // block[:blockLength] is what has come of a header block
	blockLength int
	blockStream uint32 // 0 if no block has come in part
	blockEnds   bool   // it ends its stream
	decoder     http2.Decoder
	request     request // of the block

	settled    bool   // the caller's SETTINGS have come
	lastID     uint32 // of the streams that the caller has opened
	window     int64  // of a new stream: what the caller takes
	connWindow int64  // of the connection
	taken      uint32 // DATA that was taken, and not given back to the caller's window of the connection
	smallTable bool   // the next header block has to say that its table is empty
}

func (s *session) reset() {
	s.blockLength, s.blockStream, s.settled, s.lastID, s.taken, s.smallTable = 0, 0, false, 0, 0, false
	s.window, s.connWindow = http2.DefaultWindow, http2.DefaultWindow
	s.decoder.Reset(maxHead)
}

// protocolError is an error of the caller that ends the connection, with its code.
type protocolError uint32

// Error returns the code.
func (e protocolError) Error() string { return strconv.Itoa(int(e)) }

// serveHTTP2 answers requests of HTTP/2, of which the preface has come.
func (c *conn) serveHTTP2() {
	err := c.queue(ownSettings)
	for err == nil {
		err = c.receiveFrame()
	}
	code := uint32(http2.CodeNoError)
	switch wrong, isWrong := errors.AsType[protocolError](err); {
	case isWrong:
		code = uint32(wrong)
	case errors.Is(err, errTooMuch):
		code = http2.CodeEnhanceYourCalm
	case !errors.Is(err, errClose) && !errors.Is(err, errStopping):
		return // nobody is there
	}
	payload := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, c.http2.lastID), code)
	if c.queue(http2.AppendFrame(nil, http2.FrameGoAway, 0, 0, payload)) == nil {
		_ = c.flush() // as far as it is taken
	}
}

// ownSettings is what the caller is told at first.
var ownSettings = func() []byte {
	b := http2.AppendSetting(nil, http2.SettingMaxConcurrentStreams, maxStreams)
	b = http2.AppendSetting(b, http2.SettingInitialWindowSize, streamWindow)
	b = http2.AppendSetting(b, http2.SettingMaxHeaderListSize, maxHead)
	return http2.AppendFrame(nil, http2.FrameSettings, 0, 0, b)
}()

// receiveFrame handles a frame.
func (c *conn) receiveFrame() error {
	if err := c.need(1); err != nil {
		return err
	}
	if c.began.IsZero() {
		c.began = time.Now()
	}
	if err := c.need(http2.FrameHeaderLen); err != nil {
		return err
	}
	f := http2.ParseFrameHeader(c.in[c.start:])
	c.start += http2.FrameHeaderLen
	if f.Length > http2.MaxFrameSize {
		return protocolError(http2.CodeFrameSize)
	}
	if err := c.spend(1 + f.Length/byteShare); err != nil {
		return err
	}
	if err := c.handle(f); err != nil {
		return err
	}
	if c.http2.blockStream == 0 {
		c.began = time.Time{}
	}
	return nil
}

// handle handles a frame of which the header has come.
func (c *conn) handle(f http2.FrameHeader) error {
	s := &c.http2
	if s.blockStream != 0 && (f.Type != http2.FrameContinuation || f.Stream != s.blockStream) ||
		s.blockStream == 0 && f.Type == http2.FrameContinuation || !s.settled && f.Type != http2.FrameSettings {
		return protocolError(http2.CodeProtocol)
	}
	switch f.Type {
	case http2.FrameHeaders:
		return c.handleHeaders(f)
	case http2.FrameContinuation:
		return c.handleBlock(f, f.Length)
	case http2.FrameData:
		return c.handleData(f)
	case http2.FrameSettings:
		return c.handleSettings(f)
	case http2.FramePing:
		return c.handlePing(f)
	case http2.FrameRSTStream:
		return c.handleReset(f)
	case http2.FrameWindowUpdate:
		return c.handleWindowUpdate(f)
	case http2.FramePushPromise:
		return protocolError(http2.CodeProtocol)
	case http2.FramePriority:
		if f.Stream == 0 {
			return protocolError(http2.CodeProtocol)
		} else if f.Length != 5 {
			return protocolError(http2.CodeFrameSize)
		}
	}
	return c.skip(f.Length) // PRIORITY, GOAWAY, and types that are not known
}

// fixed returns the payload of a frame of at most len(c.in) bytes, which is valid until the next read.
func (c *conn) fixed(length int) ([]byte, error) {
	if err := c.need(length); err != nil {
		return nil, err
	}
	c.start += length
	return c.in[c.start-length : c.start], nil
}

// unpadded reads what precedes the content of a DATA or HEADERS frame. It returns the lengths of the content and of the
// padding after it.
func (c *conn) unpadded(f http2.FrameHeader) (length, padding int, err error) {
	before := 0
	if f.Has(http2.FlagPadded) {
		before++
	}
	if f.Type == http2.FrameHeaders && f.Has(http2.FlagPriority) {
		before += 5
	}
	if before > f.Length {
		return 0, 0, protocolError(http2.CodeFrameSize)
	}
	b, err := c.fixed(before)
	if err != nil {
		return 0, 0, err
	}
	if f.Has(http2.FlagPadded) {
		padding = int(b[0])
	}
	if length = f.Length - before - padding; length < 0 {
		return 0, 0, protocolError(http2.CodeProtocol)
	}
	return length, padding, nil
}

func (c *conn) handleHeaders(f http2.FrameHeader) error {
	if f.Stream%2 == 0 {
		return protocolError(http2.CodeProtocol)
	}
	length, padding, err := c.unpadded(f)
	if err != nil {
		return err
	}
	s := &c.http2
	s.blockStream, s.blockLength, s.blockEnds = f.Stream, 0, f.Has(http2.FlagEndStream)
	if padding == 0 {
		return c.handleBlock(f, length)
	}
	flags := f.Flags
	f.Flags &^= http2.FlagEndHeaders
	if err := c.handleBlock(f, length); err != nil {
		return err
	}
	if err := c.skip(padding); err != nil {
		return err
	}
	f.Flags = flags
	return c.handleBlock(f, 0)
}

// handleBlock takes a part of a header block, and handles it with the last part.
func (c *conn) handleBlock(f http2.FrameHeader, length int) error {
	s := &c.http2
	if s.blockLength+length > len(s.block) {
		return protocolError(http2.CodeEnhanceYourCalm)
	}
	if err := c.each(length, func(part []byte) error {
		s.blockLength += copy(s.block[s.blockLength:], part)
		return nil
	}); err != nil || !f.Has(http2.FlagEndHeaders) {
		return err
	}
	s.request = request{}
	if err := c.server.decode(&s.decoder, s.block[:s.blockLength], s.request.take); err != nil {
		if _, ok := errors.AsType[*http2.TooLargeError](err); ok {
			return protocolError(http2.CodeEnhanceYourCalm)
		}
		return protocolError(http2.CodeCompression)
	}
	s.blockStream = 0
	return c.handleRequest(f.Stream, s.blockEnds)
}

// handleRequest handles the head of a request, or its trailers.
func (c *conn) handleRequest(id uint32, ended bool) error {
	s := &c.http2
	if id <= s.lastID {
		st := c.find(id)
		switch {
		case st == nil:
			return nil // it was answered before its trailers came
		case !ended || st.ended:
			return c.resetStream(id, http2.CodeProtocol)
		}
		return st.endMessage()
	}
	s.lastID = id
	if !s.request.isComplete() {
		return c.resetStream(id, http2.CodeProtocol)
	}
	st := c.find(0)
	if st == nil || c.server.stopping.Load() {
		return c.resetStream(id, http2.CodeRefusedStream)
	}
	st.open(id, &s.request, ended)
	st.cost = s.blockLength / byteShare
	st.window = s.window
	if st.request.grpc {
		return st.beginCall()
	}
	return st.beginPage()
}

// find returns the stream with an id, or a free one for 0; nil if there is none.
func (c *conn) find(id uint32) *stream {
	for i := range c.streams {
		if st := &c.streams[i]; id == 0 && st.wants == wantsNone || id != 0 && st.wants != wantsNone && st.id == id {
			return st
		}
	}
	return nil
}

// resetStream ends a stream with an error.
func (c *conn) resetStream(id uint32, code uint32) error {
	if st := c.find(id); st != nil {
		st.free()
	}
	return c.queue(http2.AppendFrame(nil, http2.FrameRSTStream, 0, id, binary.BigEndian.AppendUint32(nil, code)))
}

// checkOpened returns an error for a frame on a stream that was never opened.
func (c *conn) checkOpened(id uint32) error {
	if id == 0 || id%2 == 0 || id > c.http2.lastID {
		return protocolError(http2.CodeProtocol)
	}
	return nil
}

func (c *conn) handleData(f http2.FrameHeader) error {
	if err := c.checkOpened(f.Stream); err != nil {
		return err
	}
	length, padding, err := c.unpadded(f)
	if err != nil {
		return err
	}
	if err := c.each(length, func(part []byte) error {
		if st := c.find(f.Stream); st != nil && !st.ended {
			return st.receive(part)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := c.skip(padding); err != nil {
		return err
	}
	s := &c.http2
	if s.taken += uint32(f.Length); s.taken >= http2.DefaultWindow/4 {
		update := binary.BigEndian.AppendUint32(nil, s.taken)
		s.taken = 0
		if err := c.queue(http2.AppendFrame(nil, http2.FrameWindowUpdate, 0, 0, update)); err != nil {
			return err
		}
	}
	st := c.find(f.Stream)
	if st == nil {
		return nil // it was answered, or the caller has reset it
	}
	if st.ended {
		return c.resetStream(f.Stream, http2.CodeStreamClosed)
	}
	if f.Has(http2.FlagEndStream) {
		return st.endMessage()
	}
	return nil
}

func (c *conn) handleSettings(f http2.FrameHeader) error {
	s := &c.http2
	switch {
	case f.Stream != 0 || f.Has(http2.FlagAck) && !s.settled:
		return protocolError(http2.CodeProtocol)
	case f.Length%6 != 0 || f.Has(http2.FlagAck) && f.Length != 0:
		return protocolError(http2.CodeFrameSize)
	case f.Has(http2.FlagAck):
		return nil
	}
	for range f.Length / 6 {
		b, err := c.fixed(6)
		if err != nil {
			return err
		}
		if err := c.apply(binary.BigEndian.Uint16(b), binary.BigEndian.Uint32(b[2:])); err != nil {
			return err
		}
	}
	s.settled = true
	return c.queue(http2.AppendFrame(nil, http2.FrameSettings, http2.FlagAck, 0, nil))
}

// apply applies a setting of the caller.
func (c *conn) apply(id uint16, value uint32) error {
	s := &c.http2
	switch id {
	case http2.SettingHeaderTableSize:
		s.smallTable = s.smallTable || value < http2.TableSize
	case http2.SettingEnablePush:
		if value > 1 {
			return protocolError(http2.CodeProtocol)
		}
	case http2.SettingInitialWindowSize:
		if value > http2.MaxWindow {
			return protocolError(http2.CodeFlowControl)
		}
		for i := range c.streams { // the windows of streams that are open may become negative (RFC 9113 section 6.9.2)
			if c.streams[i].window += int64(value) - s.window; c.streams[i].window > http2.MaxWindow {
				return protocolError(http2.CodeFlowControl)
			}
		}
		s.window = int64(value)
	case http2.SettingMaxFrameSize:
		if value < http2.MaxFrameSize || value > 1<<24-1 {
			return protocolError(http2.CodeProtocol)
		}
	}
	return nil
}

func (c *conn) handlePing(f http2.FrameHeader) error {
	if f.Stream != 0 {
		return protocolError(http2.CodeProtocol)
	}
	if f.Length != 8 {
		return protocolError(http2.CodeFrameSize)
	}
	b, err := c.fixed(8)
	if err != nil || f.Has(http2.FlagAck) {
		return err
	}
	return c.queue(http2.AppendFrame(nil, http2.FramePing, http2.FlagAck, 0, b))
}

func (c *conn) handleReset(f http2.FrameHeader) error {
	if err := c.checkOpened(f.Stream); err != nil {
		return err
	}
	if f.Length != 4 {
		return protocolError(http2.CodeFrameSize)
	}
	if _, err := c.fixed(4); err != nil {
		return err
	}
	if st := c.find(f.Stream); st != nil {
		st.free()
	}
	return nil
}

func (c *conn) handleWindowUpdate(f http2.FrameHeader) error {
	if f.Length != 4 {
		return protocolError(http2.CodeFrameSize)
	}
	b, err := c.fixed(4)
	if err != nil {
		return err
	}
	window := &c.http2.connWindow
	if f.Stream != 0 {
		if err := c.checkOpened(f.Stream); err != nil {
			return err
		}
		st := c.find(f.Stream)
		if st == nil {
			return nil
		}
		window = &st.window
	}
	increment := int64(binary.BigEndian.Uint32(b) & http2.MaxWindow)
	switch *window += increment; {
	case (increment == 0 || *window > http2.MaxWindow) && f.Stream != 0:
		return c.resetStream(f.Stream, http2.CodeFlowControl)
	case increment == 0:
		return protocolError(http2.CodeProtocol)
	case *window > http2.MaxWindow:
		return protocolError(http2.CodeFlowControl)
	}
	return nil
}

// startOfAnswer are the headers of a call's answer.
var startOfAnswer = []string{":status", "200", "content-type", "application/grpc"}

// headers queues a header block: names, each followed by its value.
func (st *stream) headers(flags uint8, fields []string) error {
	c := st.conn
	var block []byte
	if c.http2.smallTable {
		c.http2.smallTable, block = false, http2.AppendTableSizeZero(block)
	}
	for pair := range slices.Chunk(fields, 2) {
		block = http2.AppendField(block, pair[0], pair[1])
	}
	return c.queue(http2.AppendFrame(nil, http2.FrameHeaders, flags|http2.FlagEndHeaders, st.id, block))
}

// takes reports whether the caller takes so many bytes of DATA now. Nothing is kept for one who does not.
func (st *stream) takes(length int) bool {
	return int64(length) <= min(st.window, st.conn.http2.connWindow, http2.MaxFrameSize)
}

// data queues DATA that the caller takes.
func (st *stream) data(flags uint8, text string) error {
	c := st.conn
	n := len(text)
	st.window -= int64(n)
	c.http2.connWindow -= int64(n)
	header := http2.AppendFrame(nil, http2.FrameData, flags, st.id, nil)
	header[0], header[1], header[2] = byte(n>>16), byte(n>>8), byte(n)
	if err := c.queue(header); err != nil {
		return err
	}
	return c.queueString(text)
}

// send sends a message of a call; first tells that there was none before.
func (st *stream) send(first bool, message []byte) error {
	b := make([]byte, 5, 5+len(message))
	binary.BigEndian.PutUint32(b[1:], uint32(len(message)))
	b = append(b, message...)
	if !st.takes(len(b)) {
		return st.fail(codeResourceExhausted, "the caller's window is too small for the answer")
	}
	if first {
		if err := st.headers(0, startOfAnswer); err != nil {
			return err
		}
	}
	return st.data(0, string(b))
}

// succeed ends a call with its message.
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
		fields = nil // they were before the first status
	}
	fields = append(fields, "grpc-status", strconv.Itoa(int(code)), "grpc-message", message)
	if err := st.headers(http2.FlagEndStream, fields); err != nil {
		return err
	}
	return st.finish()
}

// finish frees a stream that was answered. A caller who has not sent all of the request is told to send no more (RFC
// 9113 section 8.1).
func (st *stream) finish() error {
	st.conn.answered = true
	st.free()
	if st.ended {
		return nil
	}
	return st.conn.queue(http2.AppendFrame(nil, http2.FrameRSTStream, 0, st.id, []byte{0, 0, 0, http2.CodeNoError}))
}

// sendPageHTTP2 answers with a page.
func (st *stream) sendPageHTTP2(p page, body string) error {
	fields := []string{":status", strconv.Itoa(p.status)}
	p.fields(func(name, value string) { fields = append(fields, name, value) })
	if !st.takes(len(body)) {
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
