package sockets

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/http2"
)

// attribute returns a struct nlattr with its padding.
func attribute(kind uint16, value string) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(attributeHeader+len(value)))
	b = append(binary.NativeEndian.AppendUint16(b, kind), value...)
	return append(b, make([]byte, -len(b)&3)...)
}

// message returns a struct nlmsghdr and what it is the header of, with its padding.
func message(kind uint16, parts ...[]byte) []byte {
	data := bytes.Join(parts, nil)
	b := binary.NativeEndian.AppendUint32(nil, uint32(syscall.NLMSG_HDRLEN+len(data)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = append(append(b, make([]byte, syscall.NLMSG_HDRLEN-len(b))...), data...)
	return append(b, make([]byte, -len(b)&3)...)
}

// inetMessage returns a struct inet_diag_msg.
func inetMessage(at string, inode uint32) []byte {
	b, addr := make([]byte, inetMessageLen), netip.MustParseAddrPort(at)
	b[0] = syscall.AF_INET6
	if addr.Addr().Is4() {
		b[0] = syscall.AF_INET
	}
	binary.BigEndian.PutUint16(b[4:], addr.Port())
	copy(b[8:], addr.Addr().AsSlice())
	binary.NativeEndian.PutUint32(b[68:], inode)
	return b
}

// unixMessage returns a struct unix_diag_msg.
func unixMessage(kind byte) []byte {
	b := make([]byte, unixMessageLen)
	b[0], b[1] = syscall.AF_UNIX, kind
	return b
}

func TestParseInet(t *testing.T) {
	t.Parallel()
	id := string(binary.NativeEndian.AppendUint64(nil, 77))
	got, ok := parseInet(append(inetMessage("[::]:80", 5), append(
		attribute(inetSKV6Only, "\x01"), attribute(inetCgroupID, id)...)...))
	if want := (listener{netip.MustParseAddrPort("[::]:80"), true, 5, 77}); !ok || got != want {
		t.Errorf("got %+v, %t, want %+v", got, ok, want)
	}
	// What is missing or short is not known.
	got, ok = parseInet(append(inetMessage("10.0.0.1:80", 6), attribute(inetCgroupID, id[:7])...))
	if want := (listener{netip.MustParseAddrPort("10.0.0.1:80"), false, 6, 0}); !ok || got != want {
		t.Errorf("got %+v, %t, want %+v", got, ok, want)
	}
	if got, ok := parseInet(inetMessage("10.0.0.1:80", 6)[:inetMessageLen-1]); ok {
		t.Errorf("a short message is %+v", got)
	}
}

func TestParseUnix(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"/run/a.sock\x00": "/run/a.sock", "/run/a.sock": "/run/a.sock", "\x00abstract": "@abstract",
		"\x00with\x00zero": "@with\x00zero", "relative.sock\x00": "", "\x00": "", "": "", "/": "", "/\x00\x00": "",
	} {
		if got := parseUnix(append(unixMessage(syscall.SOCK_STREAM), attribute(unixName, name)...)); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
	if got := parseUnix(append(unixMessage(syscall.SOCK_SEQPACKET), attribute(unixName, "/a")...)); got != "" {
		t.Errorf("a socket that is no stream is %q", got)
	}
}

func TestParseDump(t *testing.T) {
	t.Parallel()
	failed := binary.NativeEndian.AppendUint32(nil, ^uint32(syscall.ENOENT)+1)
	for name, test := range map[string]struct {
		datagram []byte
		messages int
		done     bool
		err      error
	}{
		"some of several": {append(message(sockDiagFamily, nil), message(sockDiagFamily, nil)...), 2, false, nil},
		"the end":         {append(message(sockDiagFamily, nil), message(syscall.NLMSG_DONE, nil)...), 1, true, nil},
		"nothing":         {nil, 0, true, nil},
		"an error":        {message(syscall.NLMSG_ERROR, failed), 0, true, syscall.ENOENT},
		"a short error":   {message(syscall.NLMSG_ERROR, []byte{1}), 0, true, syscall.EPROTO},
		"another message": {message(99, nil), 0, false, nil},
	} {
		messages := 0
		done, err := parseDump(test.datagram, func([]byte) { messages++ })
		if messages != test.messages || done != test.done || !errors.Is(err, test.err) {
			t.Errorf("%s: %d messages, %t, %v; want %d, %t, %v", name, messages, done, err, test.messages, test.done,
				test.err)
		}
	}
}

// The kernel is trusted, and yet nothing that comes as its answer makes the probe fail, or name a socket that nobody
// could connect to.
func FuzzDump(f *testing.F) {
	f.Add(append(message(sockDiagFamily, inetMessage("[::]:80", 5), attribute(inetSKV6Only, "\x01")),
		message(sockDiagFamily, unixMessage(syscall.SOCK_STREAM), attribute(unixName, "\x00name"))...))
	f.Add(message(sockDiagFamily, inetMessage("10.0.0.1:80", 5), attribute(inetCgroupID, "12345678")))
	f.Add(message(syscall.NLMSG_ERROR, []byte{1, 2, 3, 4}))
	f.Add(message(syscall.NLMSG_DONE, nil))
	f.Fuzz(func(t *testing.T, datagram []byte) {
		size := 0
		_, _ = parseDump(datagram, func(message []byte) {
			size += syscall.NLMSG_HDRLEN + len(message)
			if l, ok := parseInet(message); ok {
				checkListener(t, l)
			}
			checkUnixName(t, parseUnix(message))
		})
		if size > len(datagram)+syscall.NLMSG_ALIGNTO {
			t.Errorf("messages of %d bytes are in %d bytes", size, len(datagram))
		}
	})
}

// checkListener checks that a listener becomes a socket that can be connected to.
func checkListener(t *testing.T, l listener) {
	t.Helper()
	for _, s := range merge([]listener{l, l}, ByCgroup) {
		if s.Port == 0 || s.Addr == "" || len(s.Address.Endpoints) == 0 {
			t.Errorf("%+v is the socket %+v", l, s)
		}
		for _, e := range s.Address.Endpoints {
			if family, to := kernelAddress(e); family == syscall.AF_UNSPEC || to == nil {
				t.Errorf("%+v cannot be connected to", e)
			}
		}
	}
}

func checkUnixName(t *testing.T, name string) {
	t.Helper()
	if name != "" && (len(name) < 2 || name[0] != '/' && name[0] != '@') {
		t.Errorf("%q is the name of a socket", name)
	}
}

func TestParseProc(t *testing.T) {
	t.Parallel()
	const rest = " 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4242 1 0000 100 0 0 10 0"
	for line, want := range map[string]string{
		"0: 0100007F:1F90" + rest:                         "127.0.0.1:8080",
		"1: 00000000:0050" + rest:                         "0.0.0.0:80",
		"2: 00000000000000000000000001000000:C383" + rest: "[::1]:50051",
		"3: 0000000000000000FFFF00000100007F:0001" + rest: "[::ffff:127.0.0.1]:1",
		"4: 0100007F:0000" + rest:                         "",
		"5: 0100:0050" + rest:                             "",
		"6: 0100007G:0050" + rest:                         "",
		"7: 0100007F" + rest:                              "",
		"8: 0100007F:1F90 00000000:0000 01" + rest[18:]:   "",
		"9: 0100007F:1F90 00000000:0000 0A":               "",
		"":                                                "",
	} {
		l, ok := parseTCP(strings.Fields(line))
		if ok != (want != "") || ok && (l.at.String() != want || l.inode != 4242) {
			t.Errorf("%q is %+v, %t; want %q", line, l, ok, want)
		}
	}
	for line, want := range map[string]string{
		"0: 00000002 00000000 00010000 0001 01 1234 /run/a.sock":       "/run/a.sock",
		"0: 00000002 00000000 00010000 0001 01 1234 @abstract":         "@abstract",
		"0: 00000002 00000000 00010000 0001 01 1234 relative":          "",
		"0: 00000002 00000000 00010000 0001 01 1234 /with a space":     "",
		"0: 00000002 00000000 00010000 0001 01 1234":                   "",
		"0: 00000002 00000000 00010000 0005 01 1234 /run/packets.sock": "",
		"0: 00000003 00000000 00000000 0001 03 1234 /run/a.sock":       "",
	} {
		if got := parseUnixLine(strings.Fields(line)); got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}

func FuzzProc(f *testing.F) {
	f.Add("0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000 1000 0 4242 1")
	f.Add("0: 00000002 00000000 00010000 0001 01 1234 @abstract")
	f.Fuzz(func(t *testing.T, line string) {
		fields := strings.Fields(line)
		if l, ok := parseTCP(fields); ok {
			checkListener(t, l)
		}
		checkUnixName(t, parseUnixLine(fields))
	})
}

func TestClassify(t *testing.T) {
	t.Parallel()
	frame := func(kind http2.FrameType, flags uint8, stream uint32, payload ...byte) string {
		return string(http2.AppendFrame(nil, kind, flags, stream, payload))
	}
	setting := frame(http2.FrameSettings, 0, 0, 0, 4, 0, 1, 0, 0)
	bridge := frame(http2.FrameSettings, 0, 0, http2.SettingBridge>>8, http2.SettingBridge&0xff, 0, 0, 0, 1)
	const web = "HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n"
	for answer, want := range map[string]struct{ more, whole outcome.Protocol }{
		"":             {"", outcome.Closed},
		"\x15":         {"", outcome.OtherProtocol},
		"\x15\x03\x01": {outcome.TLS, outcome.TLS},
		"HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server": {outcome.TLS, outcome.TLS},
		web + "This combination of host and port requires TLS.\r\n":                      {outcome.TLS, outcome.TLS},
		web:                              {"", outcome.HTTP1},
		"HTTP/1.1 4":                     {"", outcome.HTTP1},
		"HTTP/1.1 404 Not Found\r\n":     {outcome.HTTP1, outcome.HTTP1},
		"HTTP/1.1 200 OK\r\n\r\nTLS":     {outcome.HTTP1, outcome.HTTP1},
		"220 mail.example ESMTP\r\n":     {outcome.OtherProtocol, outcome.OtherProtocol},
		"SSH-2.0-OpenSSH_9.2\r\n":        {outcome.OtherProtocol, outcome.OtherProtocol},
		"\x49\x00\x00\x00\x0a5.5.5-10.":  {outcome.OtherProtocol, outcome.OtherProtocol},
		"-ERR":                           {"", outcome.OtherProtocol},
		http2.Preface:                    {outcome.OtherProtocol, outcome.OtherProtocol},
		setting:                          {outcome.HTTP2, outcome.HTTP2},
		setting[:5]:                      {"", outcome.OtherProtocol},
		setting[:12]:                     {"", outcome.HTTP2},
		frame(http2.FrameSettings, 0, 0): {outcome.HTTP2, outcome.HTTP2},
		frame(http2.FrameSettings, http2.FlagAck, 0):         {outcome.OtherProtocol, outcome.OtherProtocol},
		frame(http2.FrameSettings, 0, 1):                     {outcome.OtherProtocol, outcome.OtherProtocol},
		frame(http2.FrameSettings, 0, 0, 1, 2, 3, 4, 5):      {outcome.OtherProtocol, outcome.OtherProtocol},
		frame(http2.FramePing, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8): {outcome.OtherProtocol, outcome.OtherProtocol},
		bridge:           {outcome.Bridge, outcome.Bridge},
		setting + bridge: {outcome.HTTP2, outcome.HTTP2},
	} {
		if more, whole := Classify([]byte(answer), false), Classify([]byte(answer), true); more != want.more ||
			whole != want.whole {
			t.Errorf("%q is %q, and %q if no more comes; want %q and %q", answer, more, whole, want.more, want.whole)
		}
	}
}

// Whatever a socket answers, it is known what it speaks in the end, and however its bytes are cut up, it is the same.
func FuzzClassify(f *testing.F) {
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\nHTTPS"))
	f.Add([]byte("\x15\x03\x01\x00\x02\x02\x0a"))
	f.Add(http2.AppendFrame(nil, http2.FrameSettings, 0, 0, []byte{0, 4, 0, 1, 0, 0}))
	f.Add([]byte(http2.Preface))
	f.Fuzz(func(t *testing.T, answer []byte) {
		answer = answer[:min(len(answer), enough)]
		whole := Classify(answer, true)
		if whole == "" {
			t.Errorf("%q is nothing", answer)
		}
		for n := range answer {
			if some := Classify(answer[:n], false); some != "" && some != whole {
				t.Errorf("%q is %q, and its first %d bytes are %q", answer, whole, n, some)
			}
		}
	})
}
