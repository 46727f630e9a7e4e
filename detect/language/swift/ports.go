package swift

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	// listenCall is a call or an argument with the address to listen on.
	listenCall = regexp.MustCompile(`\.\s*bind\s*\(|\baddress\s*:\s*\.\w+\s*\(|` +
		`\bServer\.Configuration(?:\.default)?\s*\(`)
	hostAndPort  = regexp.MustCompile(`\.hostAndPort\s*\([^,()]*,\s*`)
	portArgument = regexp.MustCompile(`\bport\s*:\s*`)
	declaration  = regexp.MustCompile(`\b(?:let|var)\s+(?P<name>\w+)\s*(?::\s*[\w.]+\??\s*)?=\s*`)
)

// argument is an argument with a label, which is the name of the parameter in the function that is called. One that is
// a name alone is declared elsewhere.
var argument = regexp.MustCompile(`[(,]\s*(?P<name>\w*[pP]ort)\s*:\s*(?P<value>\d+|\w+\s*[.?\[(][^,\n]*)`)

// listeners returns the ports of the addresses that a text listens on. A port that no declaration states may be a
// parameter: then it is what the calls in the text give it.
func listeners(t *source.Text) []analyzer.Finding {
	declared := address.Read(t, "\n;,", declaration)
	var withArguments *address.Names
	var found []analyzer.Finding
	for _, m := range t.FindAll(listenCall, address.MaxListeners) {
		port := listenPort(declared, m[1])
		if port.Number == address.UnknownPort {
			if withArguments == nil {
				withArguments = address.Read(t, "\n;,", declaration, argument)
			}
			port = listenPort(withArguments, m[1])
		}
		found = append(found, analyzer.NewListener(t, port))
	}
	return found
}

// listenPort returns the port among the arguments that begin at an offset. An address without a port is that of a Unix
// domain socket.
func listenPort(d *address.Names, from int) address.Port {
	arguments := d.Code[from:d.Until(from, "")]
	m := portArgument.FindIndex(arguments)
	if m == nil {
		m = hostAndPort.FindIndex(arguments)
	}
	if m == nil {
		return address.Port{Number: address.UnknownPort, At: from}
	}
	return d.Port(source.Span{From: from + m[1], To: d.Until(from+m[1], ",")})
}
