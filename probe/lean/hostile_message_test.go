package lean_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// compressed compresses text with gzip.
func compressed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // A bytes.Buffer takes everything.
	_ = w.Close()
	return b.String()
}

// prefixed returns a message after its prefix of five bytes: whether it is compressed, and its length.
func prefixed(flag byte, message string) string {
	return string(binary.BigEndian.AppendUint32([]byte{flag}, uint32(len(message)))) + message
}

// replies returns a server that sends body in DATA frames of full size, between valid headers and trailers.
func replies(body string, headers ...string) func(*peer, uint32) {
	return func(p *peer, id uint32) {
		p.begin(id, headers...)
		rest := body
		for len(rest) > 16384 {
			p.data(id, rest[:16384])
			rest = rest[16384:]
		}
		p.data(id, rest)
		p.end(id, "grpc-status", "0")
	}
}

func TestMessagesThatAreNoAnswer(t *testing.T) {
	t.Parallel()
	meet(t, []encounter{
		{
			name: "4 GiB by its own account", exit: 3, says: "RESOURCE_EXHAUSTED",
			answers: replies("\x00\xff\xff\xff\xff\x08\x01"),
		},
		{
			name: "2 MiB", exit: 3, says: "RESOURCE_EXHAUSTED",
			answers: replies(prefixed(0, strings.Repeat("\x08\x01", 1<<20))),
		},
		{
			name: "a byte over the limit", exit: 3, says: "RESOURCE_EXHAUSTED",
			answers: replies(prefixed(0, strings.Repeat("\x08", 64<<10+1))),
		},
		{name: "gRPC-Web", exit: 3, says: "content type", answers: func(p *peer, id uint32) {
			p.headers(id, 0, ":status", "200", "content-type", "application/grpc-web")
			p.data(id, serving)
			p.end(id, "grpc-status", "0")
		}},
		{name: "none", exit: 3, says: "server sent no answer", answers: replies("")},
		{name: "two", exit: 3, says: "server sent more than one answer", answers: replies(serving + serving)},
		{name: "half", exit: 3, says: "within a message", answers: replies(serving[:6])},
		{name: "half a prefix", exit: 3, says: "within a message", answers: replies(serving[:3])},
		{
			name: "a flag that means nothing", exit: 3, says: "neither compressed nor not",
			answers: replies("\x07" + serving[1:]),
		},
		{
			name: "no protocol buffer", exit: 3, says: "not a valid protocol buffer",
			answers: replies(prefixed(0, "\xff\xff\xff")),
		},
		{
			name: "number of more than 64 bits", exit: 3, says: "not a valid protocol buffer",
			answers: replies(prefixed(0, "\x08"+strings.Repeat("\xff", 11)+"\x01")),
		},
		{
			name: "field longer than the message", exit: 3, says: "not a valid protocol buffer",
			answers: replies(prefixed(0, "\x12\xff\xff\xff\xff\x0f")),
		},
		{name: "no status", exit: 4, says: "UNKNOWN", answers: replies(prefixed(0, ""))},
		{name: "status that is not known", exit: 4, says: "99", answers: replies(prefixed(0, "\x08\x63"))},
		{
			name: "negative status", exit: 4, says: "-1",
			answers: replies(prefixed(0, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")),
		},
	})
}

func TestCompressedMessagesThatAreNoAnswer(t *testing.T) {
	t.Parallel()
	const gzipped = "grpc-encoding"
	whole := compressed("\x08\x01")
	meet(t, []encounter{
		{
			name: "gzip bomb", exit: 3, says: "over the limit",
			answers: replies(prefixed(1, compressed(strings.Repeat("\x00", 32<<20))), gzipped, "gzip"),
		},
		{
			name: "gzip, truncated", exit: 3, says: "decompressing",
			answers: replies(prefixed(1, whole[:len(whole)-9]), gzipped, "gzip"),
		},
		{
			name: "gzip with a wrong checksum", exit: 3, says: "decompressing",
			answers: replies(prefixed(1, whole[:len(whole)-8]+"\x00\x00\x00\x00"+whole[len(whole)-4:]), gzipped,
				"gzip"),
		},
		{name: "not gzip", exit: 3, says: "decompressing", answers: replies(prefixed(1, "\x08\x01"), gzipped, "gzip")},
		{name: "compressed with nothing", exit: 3, says: "compressed", answers: replies(prefixed(1, whole))},
		{
			name: "compressed with what is not known", exit: 3, says: "INTERNAL: message is compressed",
			answers: replies(prefixed(1, whole), gzipped, "zstd\u202e"),
		},
	})
}

// entry encodes a service of a HealthListResponse with its status.
func entry(service, status string) string {
	service, status = "\x0a"+string([]byte{byte(len(service))})+service, "\x12\x02\x08"+status
	return "\x0a" + string([]byte{byte(len(service) + len(status))}) + service + status
}

func TestListsThatAttack(t *testing.T) {
	t.Parallel()
	all := []string{"-all"}
	var many strings.Builder
	for i := 0; many.Len() < 64<<10-20; i++ {
		many.WriteString(entry(fmt.Sprint(i), "\x02"))
	}
	meet(t, []encounter{
		{name: "right", args: all, answers: replies(prefixed(0, entry("", "\x01")+entry("a", "\x01")))},
		{
			name: "as many services as fit", exit: 4, says: "NOT_SERVING", args: all,
			answers: replies(prefixed(0, many.String())),
		},
		{
			name: "more than fit", exit: 3, says: "RESOURCE_EXHAUSTED", args: all,
			answers: replies(prefixed(0, many.String()+many.String())),
		},
		{name: "none", exit: 4, says: "lists none", args: all, answers: replies(prefixed(0, ""))},
		{
			name: "name for a terminal", exit: 4, says: "NOT_SERVING", args: all,
			answers: replies(prefixed(0, entry("\x1b[2J\nstatus: SERVING\n", "\x02"))),
		},
		{
			name: "name that is not UTF-8", exit: 3, says: "INTERNAL", args: all,
			answers: replies(prefixed(0, entry("\xff", "\x01"))),
		},
		{
			name: "name longer than the entry", exit: 3, says: "INTERNAL", args: all,
			answers: replies(prefixed(0, "\x0a\x03\x0a\x7fa")),
		},
	})
}

func TestWatchesThatAttack(t *testing.T) {
	t.Parallel()
	watch := []string{"-watch", "-timeout=5s"}
	changes := prefixed(0, "") + prefixed(0, "\x08\x02")
	meet(t, []encounter{
		{name: "changes by the thousand", exit: 4, says: "NOT_SERVING", args: watch, answers: func(p *peer, id uint32) {
			p.begin(id)
			for range 10 {
				p.data(id, strings.Repeat(changes, 500))
			}
		}},
		{name: "ended at once", exit: 3, says: "ended", args: watch, answers: replies(serving)},
		{
			name: "ended without a status", exit: 3, says: "UNIMPLEMENTED", args: watch,
			answers: func(p *peer, id uint32) {
				p.headers(id, endStream, ":status", "200", "content-type", "application/grpc", "grpc-status", "12")
			},
		},
	})
}

func TestStatusesThatAreNone(t *testing.T) {
	t.Parallel()
	ends := func(pairs ...string) func(*peer, uint32) {
		return func(p *peer, id uint32) {
			p.begin(id)
			p.data(id, serving)
			p.end(id, pairs...)
		}
	}
	const colours = "%1b[31mred%0d%0a%1b]0;title%07%C2%9b\u202e%zz%4 %"
	meet(t, []encounter{
		{name: "absent", exit: 3, says: "UNKNOWN", answers: ends("x", "y")},
		{name: "empty", exit: 3, says: "UNKNOWN", answers: ends("grpc-status", "")},
		{name: "negative", exit: 3, says: "4294967295", answers: ends("grpc-status", "-1")},
		{name: "with a sign", answers: ends("grpc-status", "+0")},
		{name: "not a number", exit: 3, says: "UNKNOWN", answers: ends("grpc-status", "\u202e[0m")},
		{name: "for a terminal", exit: 3, says: broke, answers: ends("grpc-status", "\x1b[0m")},
		{name: "beyond 32 bits", exit: 3, says: "UNKNOWN", answers: ends("grpc-status", "4294967296")},
		{name: "beyond 64 bits", exit: 3, says: "UNKNOWN", answers: ends("grpc-status", "18446744073709551616")},
		{name: "huge", exit: 3, says: "2147483647", answers: ends("grpc-status", "2147483647")},
		{name: "end of DATA in its place", exit: 3, says: "without a status", answers: func(p *peer, id uint32) {
			p.begin(id)
			p.frame(0, endStream, id, serving)
		}},
		{
			name: "no message", exit: 3, says: "error: checking the whole server: UNKNOWN\n",
			answers: ends("grpc-status", "2"),
		},
		{
			name: "message for a terminal", exit: 3, says: "[31mred",
			answers: ends("grpc-status", "2", "grpc-message", colours),
		},
		{
			name: "message of 60 KiB", exit: 3, says: "aaa...",
			answers: ends("grpc-status", "2", "grpc-message", strings.Repeat("a", 15000)),
		},
	})
}

func TestHTTPStatusesThatAreNone(t *testing.T) {
	t.Parallel()
	refuses := func(pairs ...string) func(*peer, uint32) {
		return func(p *peer, id uint32) { p.headers(id, endStream, pairs...) }
	}
	meet(t, []encounter{
		{
			name: "HTTP 404", exit: 3, says: "UNIMPLEMENTED",
			answers: refuses(":status", "404", "content-type", "text/html"),
		},
		{
			name: "HTTP 503", exit: 3, says: "UNAVAILABLE",
			answers: refuses(":status", "503", "content-type", "text/html"),
		},
		{
			name: "HTTP 503 with a gRPC status", exit: 3, says: "UNAUTHENTICATED: who?",
			answers: refuses(":status", "503", "content-type", "application/grpc", "grpc-status", "16", "grpc-message",
				"who?"),
		},
		{
			name: "HTTP 503 with a gRPC status in trailers", exit: 3, says: "UNAUTHENTICATED: who?",
			answers: func(p *peer, id uint32) {
				p.headers(id, 0, ":status", "503", "content-type", "application/grpc")
				p.headers(id, endStream, "grpc-status", "16", "grpc-message", "who?")
			},
		},
		{name: "HTTP 503 with a page", exit: 3, says: "UNAVAILABLE", answers: func(p *peer, id uint32) {
			p.headers(id, 0, ":status", "503", "content-type", "text/html")
			p.frame(0, endStream, id, "<h1>Sorry</h1>")
		}},
		{name: "HTTP 200 with a page", exit: 3, says: "text/html", answers: func(p *peer, id uint32) {
			p.headers(id, 0, ":status", "200", "content-type", "text/html")
			p.frame(0, endStream, id, "<h1>Welcome</h1>")
		}},
		{
			name: "no HTTP status", exit: 3, says: "server sent no answer",
			answers: refuses("content-type", "application/grpc", "grpc-status", "0"),
		},
		{name: "HTTP status for a terminal", exit: 3, says: "HTTP status", answers: refuses(":status", "\u202e[2J")},
		{
			name: "content type for a terminal", exit: 3, says: "content type",
			answers: refuses(":status", "200", "content-type", "\u202e[2J"),
		},
		{name: "informational at the end", exit: 3, says: "HTTP status", answers: refuses(":status", "103")},
	})
}

func TestGoodbyesBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	meet(t, []encounter{
		{
			name: "the call was not taken", exit: 3, says: "GOAWAY",
			answers: func(p *peer, _ uint32) { _ = p.WriteGoAway(0, 0, nil) },
		},
		{name: "with a reason for a terminal", exit: 3, says: "too_many_pings", answers: func(p *peer, _ uint32) {
			_ = p.WriteGoAway(0, 11, []byte("too_many_pings\x1b[2J\n"))
		}},
		{name: "the call was taken and dropped", exit: 3, says: "GOAWAY", answers: func(p *peer, id uint32) {
			_ = p.WriteGoAway(id, 2, nil)
			_ = p.Conn.Close()
		}},
		{name: "before there was a call", exit: 3, says: "GOAWAY", greets: func(p *peer) {
			_ = p.WriteSettings()
			_ = p.WriteGoAway(0, 0, nil)
		}},
	})
}
