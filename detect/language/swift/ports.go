package swift

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
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

// listeners returns the addresses that a text listens on. One that no declaration states may be a parameter: then it is
// what the calls in the text give it.
func listeners(t *source.Text) []finding.Finding {
	declared := address.Read(t, "\n;,", declaration)
	var withArguments *address.Names
	var found []finding.Finding
	for _, m := range t.FindAll(listenCall, address.MaxListeners) {
		v := listened(declared, m[1])
		if v.Certainty == address.Unknown {
			if withArguments == nil {
				withArguments = address.Read(t, "\n;,", declaration, argument)
			}
			v = listened(withArguments, m[1])
		}
		found = append(found, finding.ListenerAt(v))
	}
	return found
}

// listened returns the address among the arguments that begin at an offset. One without a port is that of a Unix domain
// socket.
func listened(names *address.Names, from int) address.Value {
	arguments := names.Code[from:names.Until(from, "")]
	m := portArgument.FindIndex(arguments)
	if m == nil {
		m = hostAndPort.FindIndex(arguments)
	}
	if m == nil {
		return names.Socket(from)
	}
	return names.Value(source.Span{From: from + m[1], To: names.Until(from+m[1], ",")})
}
