package bridge

import (
	"bytes"
	"net/url"
	"strconv"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/metadata"
)

// servePages serves a connection of HTTP/1.1 (RFC 9112), request by request.
func (c *conn) servePages() error {
	for !c.lastRequest {
		st := &c.streams[0]
		var r request
		status, err := c.readHead(&r)
		if err != nil {
			return err
		}
		st.open(0, &r, true)
		c.partialSince = time.Time{}
		if status != 0 {
			c.lastRequest = true
			return st.sendPage(errorPage(status, "bad request: it is not valid, or too long"))
		}
		if err := st.beginPage(); err != nil {
			return err
		}
		for st.wants != wantsNone {
			if c.end-c.start == len(c.in) {
				c.start, c.end, c.lastRequest = 0, 0, true // there is no room for more requests
				if err := c.spend(len(c.in) / byteShare); err != nil {
					return err
				}
			}
			if err := c.read(); err != nil {
				return err
			}
		}
		if err := c.spend(1); err != nil {
			return err
		}
	}
	return nil
}

// readHead reads the head of a request. The status is that of the caller's error, 0 for none.
func (c *conn) readHead(r *request) (status int, err error) {
	if c.end > c.start {
		c.partialSince = time.Now()
	}
	h := head{request: r}
	for size := 0; ; {
		line, whole, err := c.line()
		if err != nil {
			return 0, err
		}
		if size += len(line) + 2; size > 2*maxHead {
			return 431, nil
		}
		if err := c.spend(1); err != nil {
			return 0, err
		}
		done, status := h.take(line, whole)
		if status != 0 {
			return status, nil
		}
		if done {
			c.lastRequest = c.lastRequest || h.close
			return 0, nil
		}
	}
}

// line reads a line, or a part of a line that is longer than the buffer.
func (c *conn) line() (line []byte, whole bool, err error) {
	for seen := 0; ; {
		have := c.in[c.start:c.end]
		if i := bytes.IndexByte(have[seen:], '\n'); i >= 0 {
			c.start += seen + i + 1
			return bytes.TrimSuffix(have[:seen+i], []byte("\r")), true, nil
		}
		if seen = len(have); seen == len(c.in) {
			c.start = c.end
			return have, false, nil
		}
		if err := c.need(seen + 1); err != nil {
			return nil, false, err
		}
		if c.partialSince.IsZero() {
			c.partialSince = time.Now()
		}
	}
}

// head is a request whose head is being read.
type head struct {
	*request
	begun, old bool // the first line has been read, and is of HTTP/1.0
	long       bool // the line is longer than the buffer
	close      bool // the connection ends after the answer
	length     uint64
	// The numbers of fields of these names.
	hosts, lengths, codings int
}

// take handles a line, or a part of a line. The status is that of an error, 0 for none.
func (h *head) take(line []byte, whole bool) (done bool, status int) {
	switch {
	case h.long:
		h.long = !whole
	case !h.begun:
		h.begun = true
		if !whole {
			return false, 414
		}
		return false, h.takeRequestLine(line)
	case len(line) == 0:
		if h.hosts != 1 && !h.old || h.hosts > 1 {
			return false, 400
		}
		return true, 0
	default:
		h.long = !whole
		return false, h.takeField(line, whole)
	}
	return false, 0
}

func (h *head) takeRequestLine(line []byte) (status int) {
	method, rest, _ := bytes.Cut(line, []byte(" "))
	uri, version, ok := bytes.Cut(rest, []byte(" "))
	if !ok || !isFieldName(method, true) || !isRequestTarget(uri) {
		return 400
	}
	switch string(version) {
	case "HTTP/1.1":
	case "HTTP/1.0":
		h.old, h.close = true, true
	default:
		return 505
	}
	h.method = methods[string(method)]
	if h.setPath(uri); h.resource != resourceNone {
		return 0
	}
	absolute, err := url.ParseRequestURI(string(uri)) // proxies get an absolute one (RFC 9112 section 3.2.2)
	if err != nil {
		return 400
	}
	h.setPath([]byte(absolute.EscapedPath()))
	return 0
}

// isHost reports whether a value has only characters of hosts and ports (RFC 3986 section 3.2.2).
func isHost(value []byte) bool {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	return len(bytes.Trim(value, letters+"0123456789-._~!$&'()*+,;=%:[]")) == 0
}

// isRequestTarget reports whether a request's target has only visible characters of ASCII.
func isRequestTarget(uri []byte) bool {
	return len(uri) > 0 && !bytes.ContainsFunc(uri, func(c rune) bool { return c <= ' ' || c > '~' })
}

func (h *head) takeField(line []byte, whole bool) (status int) {
	name, value, ok := bytes.Cut(line, []byte(":"))
	value = bytes.Trim(value, " \t")
	if !ok || !isFieldName(name, true) || !metadata.IsFieldValue(value) {
		return 400
	}
	switch string(bytes.ToLower(name)) {
	case "host":
		if h.hosts++; !whole || !isHost(value) {
			return 400
		}
	case "accept":
		h.json = h.json || bytes.Contains(value, []byte("application/json"))
	case "connection":
		h.close = h.close || bytes.Contains(bytes.ToLower(value), []byte("close"))
	case "content-length":
		length, err := strconv.ParseUint(string(value), 10, 63)
		if err != nil || !whole || h.lengths > 0 && length != h.length {
			return 400
		}
		h.lengths++
		h.length = length
		h.close = h.close || length > 0 // a body is not read
	case "transfer-encoding":
		if h.codings++; !h.old && (h.codings > 1 || !bytes.EqualFold(value, []byte("chunked"))) {
			return 501 // RFC 9112 section 6.1
		}
		h.close = true
	case "upgrade":
		h.close = true
	}
	return 0
}

var statusTexts = map[int]string{
	200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 414: "URI Too Long",
	431: "Request Header Fields Too Large", 501: "Not Implemented", 503: "Service Unavailable",
	505: "HTTP Version Not Supported",
}

func (c *conn) sendPageHTTP1(p page, body string) error {
	b := make([]byte, 0, writeSize)
	b = append(strconv.AppendInt(append(b, "HTTP/1.1 "...), int64(p.status), 10), ' ')
	b = append(append(b, statusTexts[p.status]...), "\r\n"...)
	p.fields(func(name, value string) {
		b = append(append(append(append(b, name...), ": "...), value...), "\r\n"...)
	})
	if c.lastRequest {
		b = append(b, "connection: close\r\n"...)
	}
	if err := write(c, append(b, "\r\n"...)); err != nil {
		return err
	}
	return write(c, body)
}
