package detect

import (
	"bytes"
	"maps"
	"regexp"
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
	for _, m := range pattern.FindAllIndex(r.code, maxListens) {
		each, _ := r.arguments(m[1])
		if port, hosted := r.values().address(each[0]); hosted || port == noPort {
			r.signs = append(r.signs, sign{kind: listens, port: port})
		}
	}
}

func (r *nodeReader) numbers() {
	for _, m := range nodeListen.FindAllIndex(r.code, maxListens) {
		each, _ := r.arguments(m[1])
		port := each[0]
		if bytes.HasPrefix(r.code[port.from:port.to], []byte("{")) {
			at := nodeListenPort.FindIndex(r.code[port.from:port.to])
			if at == nil {
				continue
			}
			// The whole member where it is a name alone: { port }.
			values, _ := r.arguments(port.from + at[0])
			port = values[0]
		}
		r.port(nodeListensHTTP, port)
	}
}

// port takes the port of an address; noPort where the source does not state it, so that another listener's port is not
// taken for it.
func (r *nodeReader) port(k kind, address span) {
	r.signs = append(r.signs, sign{kind: k, port: r.values().port(address)})
}

var (
	nodeDeclared = regexp.MustCompile(`\b(?:const|let|var)\s+(?P<name>[A-Za-z_$][\w$]*)\s*(?::[^=;\n]+)?=\s*`)
	nodeSet      = regexp.MustCompile(`(?:^|[^\w$.])([A-Za-z_$][\w$]*)\s*(?::\s*[\w$\s|.<>\[\]]+)?=[^=>]`)
)

// values are the variables that the file sets once, where it declares them: in a bundle, a short name is many variables'.
func (r *nodeReader) values() *values {
	if r.stated == nil {
		r.stated = r.source.values(",;\n", nodeDeclared)
		set := map[string]int{}
		for _, m := range nodeSet.FindAllSubmatchIndex(r.code, -1) {
			set[string(r.code[m[2]:m[3]])]++
		}
		maps.DeleteFunc(r.stated.declared, func(name string, _ []expression) bool { return set[name] > 1 })
	}
	return r.stated
}
