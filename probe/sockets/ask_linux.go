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
	// listenFirst is how long nothing is sent: gRPC servers in most languages, and others such as databases and mail
	// servers, say by themselves what they speak, within 10 ms.
	listenFirst = 20 * time.Millisecond
	// grace is how long the others are waited for once a server that speaks HTTP/2 is known. A process that has used up
	// its limit of CPU time stands still for up to 100 ms (cpu.max of cgroups), and must not be taken for a silent one.
	grace = 250 * time.Millisecond
	// enough is how many bytes of an answer are read. It holds a frame header and some settings, and the first line of
	// an answer in HTTP/1.1 with what a server with TLS says in its body.
	enough = 512
)

// otherPorts are the well-known TCP ports of other protocols. Only [Everyone] has them asked: some servers log each
// unknown client.
const otherPorts = " 22 25 465 587 1433 1521 1883 3306 4369 5432 5672 6379 9042 11211 15672 25672 27017 33060 "

func isOtherPort(port uint16) bool {
	return strings.Contains(otherPorts, " "+strconv.Itoa(int(port))+" ")
}

// Ask asks sockets what they speak, all at once, until the deadline, and notes it in them. It returns those that are
// the container's own.
//
// First it listens to all of them; then it asks the silent ones, as far as reach says. Sockets that an earlier call has
// asked are not asked again. What it sends is the beginning of a health check, whole, because some servers choose by
// its headers who answers.
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

// round is the asking of many sockets.
type round struct {
	poll   int
	talks  map[int32]*talk // by descriptor, those that go on
	spoken bool            // one of them speaks HTTP/2
}

// talk is a connection to one socket.
type talk struct {
	socket    *Socket
	fd        int
	rest      []address.Endpoint // to try if this one fails
	connected bool
	wants     bool // the request is to be sent
	answer    []byte
}

// begin connects to a socket, without waiting for it.
func (r *round) begin(s *Socket) {
	r.connect(&talk{socket: s, rest: s.Address.Endpoints})
}

func (r *round) connect(t *talk) {
	for len(t.rest) > 0 {
		endpoint := t.rest[0]
		t.rest = t.rest[1:]
		family, to := kernelAddress(endpoint)
		fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
		if err != nil { // no descriptors: it stays not asked
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
		case t.socket.Owner != ByPeer: // of another container it may be just the name that is seen here
			t.socket.Speaks = outcome.Refused
		}
	}
}

// epollEdge is EPOLLET, which package syscall has as a negative number.
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
		for _, digit := range at.Addr().Zone() { // an index, as the kernel gives it
			to.ZoneId = to.ZoneId*10 + uint32(digit-'0')
		}
		return syscall.AF_INET6, to
	}
	return syscall.AF_UNSPEC, nil
}

// wait handles what happens until the deadline, until no talk goes on, or, if one server is enough, until one that
// speaks HTTP/2 is known. What has come before the deadline counts, even if this process stood still meanwhile.
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

// handle handles what has happened on a connection.
func (r *round) handle(t *talk, events uint32) {
	const ended = syscall.EPOLLOUT | syscall.EPOLLERR | syscall.EPOLLHUP // the attempt to connect
	if !t.connected && events&ended != 0 && !r.connected(t) {
		return
	}
	if events&^syscall.EPOLLOUT != 0 {
		r.read(t)
	}
}

// connected begins to talk on a connection that was made. It returns false if none was, or if the socket is not this
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

// request sends the beginning of a health check, as soon as the connection is made.
func (r *round) request(t *talk) {
	if t.wants = true; t.connected {
		r.send(t)
	}
}

func (r *round) send(t *talk) {
	// The kernel takes some hundred bytes at once on a new connection. If the other end is gone, reading tells.
	_, _ = syscall.Write(t.fd, healthCheck())
}

// healthCheck is the beginning of a connection by HTTP/2 and a health check for the whole server, as gRPC over HTTP/2
// has it.
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

// read reads what has come, until it tells what the socket speaks.
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
	syscall.Close(t.fd) // and so out of the list of epoll
}

func (r *round) end() {
	for _, t := range r.talks {
		syscall.Close(t.fd)
	}
}
