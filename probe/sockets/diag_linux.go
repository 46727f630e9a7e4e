package sockets

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"strconv"
	"syscall"
	"time"
)

// The kernel's interface to the sockets of a network namespace: sock_diag(7), linux/inet_diag.h, linux/unix_diag.h.
// Byte order is the machine's, but network order for ports and IP addresses.
const (
	netlinkSockDiag = 4
	sockDiagFamily  = 20 // SOCK_DIAG_BY_FAMILY

	stateListen = 1 << 10 // TCP_LISTEN

	inetRequestLen  = 56 // struct inet_diag_req_v2
	inetMessageLen  = 72 // struct inet_diag_msg
	inetSKV6Only    = 11 // INET_DIAG_SKV6ONLY
	inetCgroupID    = 21 // INET_DIAG_CGROUP_ID
	unixRequestLen  = 24 // struct unix_diag_req
	unixMessageLen  = 16 // struct unix_diag_msg
	unixShowName    = 1  // UDIAG_SHOW_NAME
	unixName        = 0  // UNIX_DIAG_NAME
	attributeHeader = 4  // struct nlattr

	// maxDump bounds a dump in bytes: some 60,000 listeners.
	maxDump = 8 << 20
	// dumpTimeout bounds the wait for the kernel, although the kernel answers at once.
	dumpTimeout = 300 * time.Millisecond
)

// dumpTCP returns the listening TCP sockets of the network namespace.
func dumpTCP() (all []listener, err error) {
	for _, family := range []byte{syscall.AF_INET, syscall.AF_INET6} {
		request := make([]byte, inetRequestLen)
		request[0], request[1] = family, syscall.IPPROTO_TCP
		binary.NativeEndian.PutUint32(request[4:], stateListen)
		err := dump(request, func(message []byte) {
			if l, ok := parseInet(message); ok {
				all = append(all, l)
			}
		})
		// A kernel without IPv6 has no sockets of its family.
		if err != nil && (family == syscall.AF_INET || !errors.Is(err, syscall.ENOENT)) {
			return nil, err
		}
	}
	return all, nil
}

// dumpUnix returns the names of the listening unix stream sockets in the syntax of package net: a path, or @ and the
// rest of an abstract name.
func dumpUnix() (names []string, err error) {
	request := make([]byte, unixRequestLen)
	request[0] = syscall.AF_UNIX
	binary.NativeEndian.PutUint32(request[4:], stateListen)
	binary.NativeEndian.PutUint32(request[12:], unixShowName)
	err = dump(request, func(message []byte) {
		if name := parseUnix(message); name != "" && len(names) < maxSockets {
			names = append(names, name)
		}
	})
	return names, err
}

// dump sends a request, and hands each message of the answer to receive, up to maxDump bytes.
func dump(request []byte, receive func(message []byte)) error {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, netlinkSockDiag)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer syscall.Close(fd)
	timeout := syscall.NsecToTimeval(int64(dumpTimeout))
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &timeout); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	header := make([]byte, syscall.NLMSG_HDRLEN, syscall.NLMSG_HDRLEN+len(request))
	binary.NativeEndian.PutUint32(header, uint32(cap(header)))
	binary.NativeEndian.PutUint16(header[4:], sockDiagFamily)
	binary.NativeEndian.PutUint16(header[6:], syscall.NLM_F_REQUEST|syscall.NLM_F_DUMP)
	kernel := &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}
	if err := syscall.Sendto(fd, append(header, request...), 0, kernel); err != nil {
		return os.NewSyscallError("sendto", err)
	}
	buffer := make([]byte, 32<<10)
	for size := 0; size < maxDump; {
		n, _, err := syscall.Recvfrom(fd, buffer, 0)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return os.NewSyscallError("recvfrom", err)
		}
		size += n
		done, err := parseDump(buffer[:n], receive)
		if done || err != nil {
			return err
		}
	}
	return nil // without the messages beyond the bound
}

// parseDump hands the messages of a datagram to receive. It returns true if the dump ends with the datagram.
func parseDump(datagram []byte, receive func(message []byte)) (done bool, err error) {
	messages, err := syscall.ParseNetlinkMessage(datagram)
	if err != nil {
		return true, os.NewSyscallError("netlink", err)
	}
	for _, m := range messages {
		switch m.Header.Type {
		case syscall.NLMSG_DONE:
			return true, nil
		case syscall.NLMSG_ERROR:
			number := syscall.EPROTO
			if len(m.Data) >= 4 {
				number = syscall.Errno(-int32(binary.NativeEndian.Uint32(m.Data)))
			}
			return true, os.NewSyscallError("netlink", number)
		case sockDiagFamily:
			receive(m.Data)
		}
	}
	return len(messages) == 0, nil
}

// parseInet reads a struct inet_diag_msg and its attributes.
func parseInet(m []byte) (l listener, ok bool) {
	if len(m) < inetMessageLen {
		return listener{}, false
	}
	port, device := binary.BigEndian.Uint16(m[4:]), binary.NativeEndian.Uint32(m[40:])
	var ip netip.Addr
	if m[0] == syscall.AF_INET {
		ip = netip.AddrFrom4([4]byte(m[8:12]))
	} else if ip = netip.AddrFrom16([16]byte(m[8:24])); ip.IsLinkLocalUnicast() && device != 0 {
		ip = ip.WithZone(strconv.Itoa(int(device)))
	}
	l = listener{at: netip.AddrPortFrom(ip, port), inode: binary.NativeEndian.Uint32(m[68:])}
	for kind, value := range attributes(m[inetMessageLen:]) {
		switch {
		case kind == inetSKV6Only && len(value) >= 1:
			l.v6only = value[0] != 0
		case kind == inetCgroupID && len(value) >= 8:
			l.cgroup = binary.NativeEndian.Uint64(value)
		}
	}
	return l, port != 0
}

// parseUnix reads the name in a struct unix_diag_msg. It returns "" for a socket that is no stream or has no name to
// connect to.
func parseUnix(m []byte) (name string) {
	if len(m) < unixMessageLen || m[1] != syscall.SOCK_STREAM {
		return ""
	}
	for kind, value := range attributes(m[unixMessageLen:]) {
		if kind == unixName {
			name = string(value)
		}
	}
	return connectable(name)
}

// connectable returns the name of a unix socket in the syntax of package net, from the kernel's bytes: an abstract name
// begins with a zero byte. The result is "" for a relative path, which leads nowhere from here.
func connectable(name string) string {
	if len(name) > 1 && name[0] == 0 {
		return "@" + name[1:]
	}
	for len(name) > 0 && name[len(name)-1] == 0 {
		name = name[:len(name)-1]
	}
	if len(name) < 2 || name[0] != '/' {
		return ""
	}
	return name
}

// attributes yields the attributes (struct nlattr) after a message.
func attributes(b []byte) func(yield func(kind uint16, value []byte) bool) {
	return func(yield func(uint16, []byte) bool) {
		for len(b) >= attributeHeader {
			size, kind := int(binary.NativeEndian.Uint16(b)), binary.NativeEndian.Uint16(b[2:])
			if size < attributeHeader || size > len(b) || !yield(kind, b[attributeHeader:size]) {
				return
			}
			b = b[min(len(b), (size+3)&^3):]
		}
	}
}
