package dart

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	serveCall    = regexp.MustCompile(`\.\s*serve\s*\(`)
	portArgument = regexp.MustCompile(`\bport\s*:\s*`)
	unixSocket   = regexp.MustCompile(`\bInternetAddressType\.unix\b`)
	declaration  = regexp.MustCompile(`\b(?:final|const|var|int|String|late)\s+(?:(?:int|String)\??\s+)?` +
		`(?P<name>\w+)\s*=\s+`)
	// optionValue is the value of an option in the results of an ArgParser, and optionDefault the option's default.
	optionValue   = regexp.MustCompile(`\w+(?:\[|\.\s*option\()\s*['"](?P<key> *)['"]\s*[\])]`)
	optionDefault = regexp.MustCompile(`\.addOption\s*\(\s*['"](?P<key> *)['"][^;()]{0,400}?\bdefaultsTo\s*:\s*`)
)

// listeners returns the address of each call of serve.
func listeners(t *source.Text) []finding.Finding {
	names := address.Read(t, ";,", declaration)
	names.Keyed(optionValue, optionDefault)
	var found []finding.Finding
	for _, m := range t.FindAll(serveCall, address.MaxListeners) {
		found = append(found, finding.ListenerAt(served(names, m[1])))
	}
	return found
}

// served returns the address among the arguments of serve, which begin at an offset.
func served(names *address.Names, from int) address.Value {
	arguments := names.Code[from:names.Until(from, "")]
	m := portArgument.FindIndex(arguments)
	switch {
	case unixSocket.Match(arguments):
		return names.Socket(from)
	case m == nil:
		return names.Nothing(from)
	}
	return names.Value(source.Span{From: from + m[1], To: names.Until(from+m[1], ",")})
}
