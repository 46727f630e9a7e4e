package bridge

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// attack is what a hostile caller sends on a connection.
type attack struct {
	name string
	// opening is sent first, and then each next chunk as fast as it is taken, until the connection is closed. Without
	// chunks the connection is held.
	opening []byte
	next    func(i int) []byte
	// deaf callers read nothing; slow ones wait between chunks; those who leave close the connection after the opening;
	// those from everywhere have an address of their own for each connection.
	deaf, leaves, everywhere bool
	pause                    time.Duration
}

// always returns a chunk again and again.
func always(chunk []byte) func(int) []byte { return func(int) []byte { return chunk } }

// framed returns frames, after HTTP/2's preface and SETTINGS.
func framed(write func(f *http2.Framer)) []byte {
	var out bytes.Buffer
	out.WriteString(http2.ClientPreface)
	framer := http2.NewFramer(&out, nil)
	framer.AllowIllegalWrites = true
	_ = framer.WriteSettings() // a buffer takes everything
	if write != nil {
		write(framer)
	}
	return out.Bytes()
}

// frames returns frames alone.
func frames(write func(f *http2.Framer)) []byte {
	return framed(write)[len(framed(nil)):]
}

// headers returns a header block of a call, with more fields.
func headers(path string, more ...string) []byte { return headersTo("a", path, more...) }

// headersTo is headers for an authority.
func headersTo(authority, path string, more ...string) []byte {
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	fields := append([]string{
		":method", "POST", ":scheme", "http", ":path", path, ":authority", authority,
		"content-type", "application/grpc", "te", "trailers",
	}, more...)
	for i := 0; i < len(fields); i += 2 {
		_ = encoder.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]}) // a buffer takes everything
	}
	return block.Bytes()
}

// begin writes HEADERS that end nothing but themselves.
func begin(f *http2.Framer, id uint32, block []byte) {
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndHeaders: true})
}

// message returns a HealthCheckRequest with its prefix.
func message(service string) []byte {
	b := binary.BigEndian.AppendUint32([]byte{0}, uint32(2+len(service)))
	return append(append(b, 1<<3|2, byte(len(service))), service...)
}

// calls returns count calls from a stream on, of the services that name returns.
func callsFrom(f *http2.Framer, first uint32, count int, name func(i int) string) {
	for i := range count {
		id := first + uint32(2*i)
		begin(f, id, headers(checkPath))
		_ = f.WriteData(id, true, message(name(i)))
	}
}

func readyName(int) string { return "ready" }

// attacks are those that were found to hurt a bridge, and those of the CVEs of HTTP/2 servers.
func attacks() []attack {
	return slices.Concat(connectionAttacks(), frameAttacks(), requestAttacks(), answerAttacks())
}

// connectionAttacks open connections.
func connectionAttacks() []attack {
	opened := framed(nil)
	return []attack{
		{name: "unfinished calls", opening: framed(func(f *http2.Framer) {
			for i := range maxStreams {
				begin(f, uint32(2*i+1), headers(checkPath))
				_ = f.WriteData(uint32(2*i+1), false, make([]byte, 7000))
			}
		})},
		{name: "silence"},
		{name: "connections", opening: opened, leaves: true},
		{name: "connections from everywhere that leave", opening: opened, leaves: true, everywhere: true},
		{
			name: "connections from everywhere", everywhere: true, deaf: true,
			opening: framed(func(f *http2.Framer) { callsFrom(f, 1, 1, readyName) }),
		},
	}
}

// frameAttacks send frames that ask nothing.
func frameAttacks() []attack {
	opened := framed(nil)
	return []attack{
		{name: "empty CONTINUATION", opening: framed(func(f *http2.Framer) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: headers(checkPath)})
		}), next: always(bytes.Repeat(frames(func(f *http2.Framer) {
			_ = f.WriteContinuation(1, false, nil)
		}), 100))},
		{name: "CONTINUATION", opening: framed(func(f *http2.Framer) {
			_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: headers(checkPath)})
		}), next: always(frames(func(f *http2.Framer) {
			_ = f.WriteContinuation(1, false, bytes.Repeat([]byte{0x0f, 0x10, 0, 0}, 4000))
		}))},
		{name: "PING", opening: opened, deaf: true, next: always(bytes.Repeat(frames(func(f *http2.Framer) {
			_ = f.WritePing(false, [8]byte{})
		}), 100))},
		{name: "SETTINGS", opening: opened, deaf: true, next: always(bytes.Repeat(frames(func(f *http2.Framer) {
			_ = f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1})
		}), 100))},
		{name: "PRIORITY", opening: opened, next: always(bytes.Repeat(frames(func(f *http2.Framer) {
			_ = f.WritePriority(1, http2.PriorityParam{StreamDep: 3})
		}), 100))},
		{name: "WINDOW_UPDATE", opening: opened, next: always(bytes.Repeat(frames(func(f *http2.Framer) {
			_ = f.WriteWindowUpdate(0, 1)
		}), 100))},
		{
			name: "empty DATA", opening: framed(func(f *http2.Framer) { begin(f, 1, headers(checkPath)) }),
			next: always(bytes.Repeat(frames(func(f *http2.Framer) { _ = f.WriteData(1, false, nil) }), 100)),
		},
		{name: "unknown frames", opening: opened, next: always(frames(func(f *http2.Framer) {
			_ = f.WriteRawFrame(0xbe, 0, 0, make([]byte, 16<<10))
		}))},
	}
}

// requestAttacks send requests that are costly or go nowhere.
func requestAttacks() []attack {
	opened := framed(nil)
	bomb := func(f *http2.Framer) { // a large field in the table, and a block full of it
		var block bytes.Buffer
		encoder := hpack.NewEncoder(&block)
		_ = encoder.WriteField(hpack.HeaderField{Name: "x", Value: strings.Repeat("v", 3000)})
		block.Write(bytes.Repeat([]byte{0xbe}, 900))
		begin(f, 1, block.Bytes())
	}
	return []attack{
		{name: "rapid reset", opening: opened, next: func(i int) []byte {
			return frames(func(f *http2.Framer) {
				for k := range 20 {
					id := uint32(40*i + 2*k + 1)
					callsFrom(f, id, 1, readyName)
					_ = f.WriteRSTStream(id, http2.ErrCodeCancel)
				}
			})
		}},
		{name: "resets by the server", opening: opened, next: func(i int) []byte { // CVE-2025-8671
			return frames(func(f *http2.Framer) {
				for k := range 20 {
					id := uint32(40*i + 2*k + 1)
					callsFrom(f, id, 1, readyName)
					_ = f.WriteWindowUpdate(id, 0)
				}
			})
		}},
		{name: "HPACK bomb", opening: framed(bomb), next: func(i int) []byte {
			return frames(func(f *http2.Framer) { begin(f, uint32(2*i+3), bytes.Repeat([]byte{0xbe}, 1000)) })
		}},
		{name: "fields without a name", opening: opened, next: func(i int) []byte {
			return frames(func(f *http2.Framer) { begin(f, uint32(2*i+1), bytes.Repeat([]byte{0, 0, 0}, 1300)) })
		}},
		{name: "table resizes", opening: opened, next: func(i int) []byte {
			return frames(func(f *http2.Framer) { begin(f, uint32(2*i+1), bytes.Repeat([]byte{0x20}, 4000)) })
		}},
	}
}

// answerAttacks ask, and read no answers, or are slow.
func answerAttacks() []attack {
	opened := framed(nil)
	return []attack{
		{
			name: "small windows", deaf: true, pause: 10 * time.Millisecond,
			opening: []byte(http2.ClientPreface + string(frames(func(f *http2.Framer) {
				_ = f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0})
				callsFrom(f, 1, maxStreams, readyName)
			}))),
			next: always(frames(func(f *http2.Framer) { _ = f.WriteWindowUpdate(1, 1) })),
		},
		{name: "questions", opening: opened, next: func(i int) []byte {
			return frames(func(f *http2.Framer) { callsFrom(f, uint32(2*maxStreams*i+1), maxStreams, readyName) })
		}},
		{name: "questions whose answers are not read", opening: opened, deaf: true, next: func(i int) []byte {
			return frames(func(f *http2.Framer) { callsFrom(f, uint32(2*maxStreams*i+1), maxStreams, readyName) })
		}},
		{name: "names", opening: opened, next: func(i int) []byte {
			return frames(func(f *http2.Framer) {
				madeUp := func(int) string { return strconv.FormatUint(rand.Uint64(), 36) }
				callsFrom(f, uint32(2*maxStreams*i+1), maxStreams, madeUp)
			})
		}},
		{name: "watches and lists", opening: framed(func(f *http2.Framer) {
			for i, path := range []string{watchPath, listPath, watchPath, listPath} {
				begin(f, uint32(2*i+1), headers(path))
				_ = f.WriteData(uint32(2*i+1), true, message(""))
			}
		})},
		{name: "slow frames", opening: opened[:len(opened)-9], pause: 50 * time.Millisecond, next: func(i int) []byte {
			return opened[len(opened)-9:][i%9 : i%9+1]
		}},
		{
			name: "slow pages", opening: []byte("GET /readyz HTTP/1.1\r\n"), pause: 50 * time.Millisecond,
			next: func(i int) []byte { return []byte("x: y\r\n"[i%6 : i%6+1]) },
		},
		{name: "pages whose answers are not read", deaf: true, next: always(bytes.Repeat(
			[]byte("GET /readyz HTTP/1.1\r\nhost: a\r\naccept: application/json\r\n\r\n"), 20))},
		{name: "long lines", next: always(bytes.Repeat([]byte("x"), 8<<10))},
		{
			name: "lines", opening: []byte("GET /readyz HTTP/1.1\r\n"),
			next: always(bytes.Repeat([]byte("a: b\r\n"), 1000)),
		},
		{name: "random bytes", next: func(int) []byte {
			b := make([]byte, 1000)
			for i := range b {
				b[i] = byte(rand.Uint32())
			}
			return b
		}},
	}
}

// attackersOfOne is how many connections one process attacks with at once.
const attackersOfOne = 96

// attackingAddresses is how many addresses the attackers have, apart from those who come from everywhere. The bridge
// keeps no connections for any of them.
const attackingAddresses = 8

// attackMain is a process that attacks: arguments are the name of the attack and the bridge's address.
func attackMain() int {
	for _, a := range attacks() {
		if a.name != os.Args[1] {
			continue
		}
		ctx, stop := context.WithTimeout(context.Background(), time.Minute) // it is killed before
		defer stop()
		var attacking sync.WaitGroup
		for range attackersOfOne {
			attacking.Go(func() {
				for ctx.Err() == nil {
					a.connect(ctx, os.Args[2])
				}
			})
		}
		attacking.Wait()
		return 0
	}
	fmt.Fprintf(os.Stderr, "there is no attack %q\n", os.Args[1])
	return 1
}

// connect attacks with one connection.
func (a attack) connect(ctx context.Context, addr string) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+rand.IntN(attackingAddresses)))}}
	if a.everywhere {
		dialer.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 1, byte(rand.Uint32()), byte(rand.Uint32())|1)}
	}
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	if err != nil {
		time.Sleep(time.Millisecond)
		return
	}
	defer conn.Close()
	if !a.deaf {
		go func() {
			defer conn.Close()
			for b := make([]byte, 4096); ; {
				if _, err := conn.Read(b); err != nil {
					return
				}
			}
		}()
	}
	_, err = conn.Write(a.opening)
	for i := 0; err == nil && a.next != nil; i++ {
		_, err = conn.Write(a.next(i))
		time.Sleep(a.pause)
	}
	for err == nil && !a.leaves { // until it is closed
		time.Sleep(10 * time.Millisecond)
		_, err = conn.Write(nil)
		if one := []byte{0}; err == nil && a.deaf && a.next == nil {
			_ = conn.SetReadDeadline(time.Now().Add(time.Second))
			_, err = conn.Read(one)
		}
	}
}
