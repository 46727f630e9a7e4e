package sockets

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net/netip"
	"os"
	"strconv"
	"strings"
)

// maxProcFile bounds the bytes read of /proc/net/tcp and similar files, which also list each connection.
const maxProcFile = 16 << 20

// readTCP returns the listening TCP sockets from /proc/net/tcp and /proc/net/tcp6 (proc_net(5)). It costs more than
// dumpTCP, and works where the kernel refuses dumpTCP.
func readTCP() (all []listener, err error) {
	loopback4 := map[uint16]bool{} // ports of 127.0.0.1
	for _, path := range []string{"/proc/self/net/tcp", "/proc/self/net/tcp6"} {
		err = eachLine(path, func(fields []string) {
			l, ok := parseTCP(fields)
			if !ok {
				return
			}
			ip, port := l.at.Addr(), l.at.Port()
			loopback4[port] = loopback4[port] || ip.Is4() && (ip.IsUnspecified() || ip.IsLoopback())
			l.v6only = ip.Is6() && loopback4[port] // otherwise both could not have the same port
			all = append(all, l)
		})
		if err != nil && !os.IsNotExist(err) {
			return nil, err
		}
	}
	return all, nil
}

// parseTCP reads a line of /proc/net/tcp. It returns false for a socket that does not listen.
func parseTCP(fields []string) (l listener, ok bool) {
	const listening = "0A"
	if len(fields) < 10 || fields[3] != listening {
		return listener{}, false
	}
	at, ok := parseProcAddress(fields[1])
	inode, err := strconv.ParseUint(fields[9], 10, 32)
	return listener{at: at, inode: uint32(inode)}, ok && err == nil
}

// readUnix returns the names of the listening unix stream sockets from /proc/net/unix, like dumpUnix.
func readUnix() (names []string, err error) {
	err = eachLine("/proc/self/net/unix", func(fields []string) {
		if name := parseUnixLine(fields); name != "" && len(names) < maxSockets {
			names = append(names, name)
		}
	})
	return names, err
}

// parseUnixLine reads the name in a line of /proc/net/unix. It returns "" for a socket that does not listen, is no
// stream, or has no name to connect to.
func parseUnixLine(fields []string) (name string) {
	const listening, stream = "00010000", "0001" // __SO_ACCEPTCON, SOCK_STREAM
	if len(fields) != 8 || fields[3] != listening || fields[4] != stream {
		return ""
	}
	if name = fields[7]; len(name) > 1 && (name[0] == '/' || name[0] == '@') {
		return name
	}
	return ""
}

// eachLine hands over the fields of each line of a file, up to maxProcFile.
func eachLine(path string, receive func(fields []string)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, maxProcFile))
	for lines.Scan() {
		receive(strings.Fields(lines.Text()))
	}
	return lines.Err()
}

// parseProcAddress reads an address such as 0100007F:1F90: words of 32 bits in the machine's order.
func parseProcAddress(text string) (netip.AddrPort, bool) {
	host, port, _ := strings.Cut(text, ":")
	number, err := strconv.ParseUint(port, 16, 16)
	b, hexErr := hex.DecodeString(host)
	if err != nil || hexErr != nil || number == 0 || len(b)%4 != 0 {
		return netip.AddrPort{}, false
	}
	for i := 0; i < len(b); i += 4 {
		binary.NativeEndian.PutUint32(b[i:], binary.BigEndian.Uint32(b[i:]))
	}
	ip, ok := netip.AddrFromSlice(b)
	return netip.AddrPortFrom(ip, uint16(number)), ok
}
