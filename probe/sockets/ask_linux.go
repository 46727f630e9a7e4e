package sockets

import (
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/http2"
)

const (
	// listenFirst is the time before anything is sent: gRPC servers in most languages, databases and mail servers speak
	// first, within 10 ms.
	listenFirst = 20 * time.Millisecond
	// grace is the wait for further sockets once a server with HTTP/2 is known. A process at the limit of its CPU time
	// stands still for up to 100 ms (cpu.max of cgroups), and must not be taken for silent.
	grace = 250 * time.Millisecond
	// enough bounds the bytes read of an answer: a frame header and some settings, or the first line of an answer in
	// HTTP/1.1 with the hint to TLS in the body.
	enough = 512
)

// otherPorts are the well-known TCP ports of protocols without gRPC. Only [Everyone] asks them: some servers log each
// unknown client.
const otherPorts = " 22 25 465 587 1433 1521 1883 3306 4369 5432 5672 6379 9042 11211 15672 25672 27017 33060 "

func isOtherPort(port uint16) bool {
	return strings.Contains(otherPorts, " "+strconv.Itoa(int(port))+" ")
}

// Ask finds out the protocols of sockets, all at once, until the deadline, and sets Speaks of each socket. Ask returns
// the sockets without the unix sockets of other owners.
//
// First Ask listens to all sockets; then it asks the silent sockets within reach. Sockets asked by an earlier call are
// not asked again. Ask sends the whole beginning of a health check, because in some servers the headers decide who
// answers.
func Ask(found []Socket, reach Reach, deadline time.Time) ([]Socket, error) {
	poll, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	defer syscall.Close(poll)
	r := &round{poll: poll, talks: map[int32]*talk{}}
	defer r.end()
	for i := range found {
		s := &found[i]
		unknown := s.Speaks == outcome.NotAsked || s.Speaks == ""
		if unknown && len(r.talks) < maxAsked && (reach == Everyone || !isOtherPort(s.Port)) {
			r.begin(s)
		}
	}
	r.wait(earlier(deadline, time.Now().Add(listenFirst)), false)
	if reach != OneServer || !r.spoken {
		for _, t := range r.talks {
			r.request(t)
		}
		r.wait(deadline, reach != Everyone)
		if r.spoken && reach != Everyone {
			r.wait(earlier(deadline, time.Now().Add(grace)), false)
		}
		for _, t := range r.talks {
			if len(t.answer) > 0 {
				t.socket.Speaks = Classify(t.answer, true)
			} else if t.socket.Speaks != "" {
				t.socket.Speaks = outcome.Silent
			}
		}
	}
	return slices.DeleteFunc(found, func(s Socket) bool { return s.Owner == ByPeer && s.Speaks == "" }), nil
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// round asks many sockets.
type round struct {
	poll   int
	talks  map[int32]*talk // by descriptor, unfinished talks
	spoken bool            // a socket speaks HTTP/2
}

// talk is a connection to one socket.
type talk struct {
	socket    *Socket
	fd        int
	rest      []address.Endpoint // to try after a failure
	connected bool
	wants     bool // the request is to be sent
	answer    []byte
}

// begin starts to connect to a socket, without waiting.
func (r *round) begin(s *Socket) {
	r.connect(&talk{socket: s, rest: s.Address.Endpoints})
}

func (r *round) connect(t *talk) {
	for len(t.rest) > 0 {
		endpoint := t.rest[0]
		t.rest = t.rest[1:]
		family, to := kernelAddress(endpoint)
		fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
		if err != nil { // no descriptors: the socket stays not asked
			return
		}
		err = syscall.Connect(fd, to)
		if err == nil || err == syscall.EINPROGRESS {
			event := syscall.EpollEvent{Events: syscall.EPOLLIN | syscall.EPOLLOUT | epollEdge, Fd: int32(fd)}
			if err = syscall.EpollCtl(r.poll, syscall.EPOLL_CTL_ADD, fd, &event); err == nil {
				t.fd, t.connected = fd, false
				r.talks[int32(fd)] = t
				return
			}
		}
		syscall.Close(fd)
		switch {
		case err == syscall.EACCES || err == syscall.EPERM:
			t.socket.Speaks = outcome.Forbidden
			if t.socket.Owner == ByPeer {
				t.socket.Owner = Unknown
			}
		case t.socket.Owner != ByPeer: // a unix socket may be just the name of another container's socket
			t.socket.Speaks = outcome.Refused
		}
	}
}

// epollEdge is EPOLLET, a negative number in package syscall.
const epollEdge = 1 << 31

func kernelAddress(e address.Endpoint) (family int, addr syscall.Sockaddr) {
	switch e := e.(type) {
	case address.UnixEndpoint:
		return syscall.AF_UNIX, &syscall.SockaddrUnix{Name: string(e)}
	case address.IPEndpoint:
		at := netip.AddrPort(e)
		if ip := at.Addr().Unmap(); ip.Is4() {
			return syscall.AF_INET, &syscall.SockaddrInet4{Port: int(at.Port()), Addr: ip.As4()}
		}
		to := &syscall.SockaddrInet6{Port: int(at.Port()), Addr: at.Addr().As16()}
		for _, digit := range at.Addr().Zone() { // the kernel's index
			to.ZoneId = to.ZoneId*10 + uint32(digit-'0')
		}
		return syscall.AF_INET6, to
	}
	return syscall.AF_UNSPEC, nil
}

// wait handles events until the deadline, until no talk goes on, or, with one, until a server with HTTP/2 is known.
// Events before the deadline count, even if this process stood still meanwhile.
func (r *round) wait(deadline time.Time, one bool) {
	var events [64]syscall.EpollEvent
	for len(r.talks) > 0 && (!one || !r.spoken) {
		left := max(0, time.Until(deadline))
		n, err := syscall.EpollWait(r.poll, events[:], int((left+time.Millisecond-1)/time.Millisecond))
		if err != nil && err != syscall.EINTR || n == 0 && left == 0 {
			return
		}
		for _, event := range events[:max(n, 0)] {
			if t := r.talks[event.Fd]; t != nil {
				r.handle(t, event.Events)
			}
		}
	}
}

// handle handles the events of a connection.
func (r *round) handle(t *talk, events uint32) {
	const ended = syscall.EPOLLOUT | syscall.EPOLLERR | syscall.EPOLLHUP // the attempt to connect
	if !t.connected && events&ended != 0 && !r.connected(t) {
		return
	}
	if events&^syscall.EPOLLOUT != 0 {
		r.read(t)
	}
}

// connected begins to talk on a new connection. It returns false if the attempt failed, or if the socket is not this
// container's.
func (r *round) connected(t *talk) bool {
	failed, err := syscall.GetsockoptInt(t.fd, syscall.SOL_SOCKET, syscall.SO_ERROR)
	if err != nil || failed != 0 {
		r.close(t)
		t.socket.Speaks = outcome.Refused
		r.connect(t)
		return false
	}
	if t.socket.Owner == ByPeer {
		if !isOwnPeer(t.fd) {
			r.close(t)
			return false
		}
		t.socket.Speaks = outcome.NotAsked
	}
	t.connected = true
	if t.wants {
		r.send(t)
	}
	return true
}

// request sends the beginning of a health check, once there is a connection.
func (r *round) request(t *talk) {
	if t.wants = true; t.connected {
		r.send(t)
	}
}

func (r *round) send(t *talk) {
	// The kernel takes some hundred bytes at once on a new connection. A lost peer shows when reading.
	_, _ = syscall.Write(t.fd, healthCheck())
}

// healthCheck returns the beginning of a connection by HTTP/2 and a health check for the whole server (gRPC over
// HTTP/2).
func healthCheck() []byte {
	b := http2.AppendFrame([]byte(http2.Preface), http2.FrameSettings, 0, 0, nil)
	var fields []byte
	for _, field := range [...][2]string{
		{":method", "POST"},
		{":scheme", "http"},
		{":path", "/grpc.health.v1.Health/Check"},
		{":authority", "localhost"},
		{"content-type", "application/grpc"},
		{"te", "trailers"},
		{"user-agent", "grpc_health_probe"},
	} {
		fields = http2.AppendField(fields, field[0], field[1])
	}
	b = http2.AppendFrame(b, http2.FrameHeaders, http2.FlagEndHeaders, 1, fields)
	return http2.AppendFrame(b, http2.FrameData, http2.FlagEndStream, 1, make([]byte, 5))
}

// read reads the answer so far, until the protocol is known.
func (r *round) read(t *talk) {
	var buffer [enough]byte
	for {
		n, err := syscall.Read(t.fd, buffer[len(t.answer):])
		switch {
		case err == syscall.EINTR:
			continue
		case err == syscall.EAGAIN:
			return
		case err != nil || n == 0:
			r.decide(t, Classify(t.answer, true))
			return
		}
		t.answer = append(t.answer, buffer[len(t.answer):len(t.answer)+n]...)
		if speaks := Classify(t.answer, len(t.answer) == enough); speaks != "" {
			r.decide(t, speaks)
			return
		}
	}
}

// decide ends a talk.
func (r *round) decide(t *talk, speaks outcome.Protocol) {
	r.close(t)
	t.socket.Speaks = speaks
	r.spoken = r.spoken || speaks == outcome.HTTP2
}

func (r *round) close(t *talk) {
	delete(r.talks, int32(t.fd))
	syscall.Close(t.fd) // also removes the descriptor from epoll
}

func (r *round) end() {
	for _, t := range r.talks {
		syscall.Close(t.fd)
	}
}
