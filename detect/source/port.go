package source

import (
	"bytes"
	"net"
	"strconv"
)

// UnknownPort is the port of a listener whose port is not known, or that a probe beside the server cannot reach.
const UnknownPort = -1

// ParsePort returns the port of an address (host:port, or a port alone) that a probe in the same container can reach,
// and UnknownPort for any other.
func ParsePort(address string) int {
	// A bare number is no address: the variable was declared with it and got its colon later.
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		host, port = "", address
	}
	ip := net.ParseIP(host)
	local := host == "" || host == "localhost" || ip != nil && isLocal(ip)
	if n, err := strconv.ParseUint(port, 10, 16); err == nil && n > 0 && local {
		return int(n)
	}
	return UnknownPort
}

func isLocal(ip net.IP) bool { return ip.IsUnspecified() || ip.IsLoopback() }

// listenWords are parts of the names of constants, fields, functions and parameters that say where something listens.
var listenWords = NewKeywords("port", "Port", "PORT", "addr", "Addr", "ADDR", "listen", "Listen", "LISTEN", "bind",
	"Bind",
	"BIND", "ndpoint", "ENDPOINT", "url", "Url", "URL", "uri", "socket")

// HasPortLine reports whether a number of four or five digits, as most ports have, stands in a line that says where
// something listens, or in the line behind it: "const PORT = 50051". It is made to be fast on files that have none.
func HasPortLine(text []byte) bool {
	digits, line, before := 0, 0, 0
	for at := 0; at <= len(text); at++ {
		if at < len(text) && text[at] >= '0' && text[at] <= '9' {
			digits++
			continue
		}
		if digits == 4 || digits == 5 {
			end := len(text)
			if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
				end = at + n
			}
			if listenWords.In(text[before:min(end, before+2*maxValue)]) {
				return true
			}
			at = end
		}
		if digits = 0; at < len(text) && text[at] == '\n' {
			line, before = at+1, line
		}
	}
	return false
}
