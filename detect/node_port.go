package detect

import (
	"bytes"
	"regexp"
	"strings"
)

var (
	nodeListen     = regexp.MustCompile(`\.listen\(`)
	nodeMaliStart  = regexp.MustCompile(`\.start\(`)
	nodeListenPort = regexp.MustCompile(`\bport\s*:\s*|\bport\b\s*[,}]`)
)

// listens takes the ports of calls of listen: an address for nice-grpc and grpc-kit (a bare number is another server's),
// and for HTTP/2 a number or an object with one. mali's is start.
func (r *nodeReader) listens() {
	byAddress := r.made("nice-grpc") || r.made("grpc-kit")
	switch {
	case byAddress:
		r.addresses(nodeListen)
	case r.made("mali"):
		r.addresses(nodeMaliStart)
	case r.has(nodeConnects) || r.has(nodeHTTP2):
		r.numbers()
	}
}

// made reports whether a server of a framework is made here.
func (r *nodeReader) made(framework string) bool {
	for _, s := range r.signs {
		if s.framework == framework {
			return true
		}
	}
	return false
}

func (r *nodeReader) addresses(pattern *regexp.Regexp) {
	for _, m := range pattern.FindAllIndex(r.code, -1) {
		each, _ := r.arguments(m[1])
		if address, ok := r.constant(each[0], 0); ok && !strings.Contains(address, ":") {
			continue
		}
		r.port(listens, each[0])
	}
}

func (r *nodeReader) numbers() {
	for _, m := range nodeListen.FindAllIndex(r.code, -1) {
		each, _ := r.arguments(m[1])
		port := each[0]
		if bytes.HasPrefix(bytes.TrimSpace(r.code[port.from:port.to]), []byte("{")) {
			at := nodeListenPort.FindIndex(r.code[port.from:port.to])
			if at == nil {
				continue
			}
			values, _ := r.arguments(port.from + at[0])
			port = values[0]
			if colon := bytes.IndexByte(r.code[port.from:port.to], ':'); colon >= 0 {
				port.from += colon + 1
			}
		}
		r.port(nodeListensHTTP, port)
	}
}

// port takes the port of an address; noPort where the source does not state it, so that another listener's port is not
// taken for it.
func (r *nodeReader) port(k kind, address nodeSpan) {
	port := noPort
	if text, ok := r.constant(address, 0); ok {
		port = statedPort(text)
	}
	r.signs = append(r.signs, sign{kind: k, port: port})
}
