// Package hostport splits and joins the text of a TCP address, host:port, like package net. Package net is much to
// compile and to link for programs that read addresses and never connect. Begin with [Split].
package hostport

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Split returns the host and the port of host:port and [IPv6]:port. Either may be empty. A missing part and any
// addition are errors.
func Split(s string) (host, port string, err error) {
	colon := strings.LastIndexByte(s, ':')
	switch bracket := strings.IndexByte(s, ']'); {
	case colon < 0:
		return "", "", errors.New("missing port in address")
	case !strings.HasPrefix(s, "["):
		host, port = s[:colon], s[colon+1:]
	case bracket < 0:
		return "", "", errors.New("missing ']' in address")
	case !strings.HasPrefix(s[bracket+1:], ":"):
		return "", "", errors.New("missing port in address")
	default:
		host, port = s[1:bracket], s[bracket+2:]
	}
	if strings.Contains(port, ":") || !strings.HasPrefix(s, "[") && strings.Contains(host, ":") {
		return "", "", errors.New("too many colons in address")
	}
	if sign := strings.IndexAny(host+port, "[]"); sign >= 0 {
		return "", "", fmt.Errorf("unexpected %q in address", (host + port)[sign])
	}
	return host, port, nil
}

// Join returns host and port in the form of a URI, the port without leading zeros.
func Join(host string, port uint16) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return host + ":" + strconv.Itoa(int(port))
}
