package dart

import (
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	serveCall    = regexp.MustCompile(`\.\s*serve\s*\(`)
	portArgument = regexp.MustCompile(`\bport\s*:\s*`)
	unixSocket   = regexp.MustCompile(`\bInternetAddressType\.unix\b`)
	declaration  = regexp.MustCompile(`\b(?:final|const|var|int|String|late)\s+(?:(?:int|String)\??\s+)?` +
		`(?P<name>\w+)\s*=\s+`)
)

// listeners returns the port of each call of serve.
func listeners(t *source.Text) []analyzer.Finding {
	declarations := address.Read(t, ";,", declaration)
	var found []analyzer.Finding
	for _, m := range t.FindAll(serveCall, address.MaxListeners) {
		found = append(found, analyzer.NewListener(t, servePort(declarations, m[1])))
	}
	return found
}

// servePort returns the port among the arguments of serve, which begin at an offset.
func servePort(d *address.Names, from int) address.Port {
	arguments := d.Code[from:d.Until(from, "")]
	m := portArgument.FindIndex(arguments)
	if m == nil || unixSocket.Match(arguments) {
		return address.Port{Number: address.UnknownPort, At: from}
	}
	at := source.Span{From: from + m[1], To: d.Until(from+m[1], ",")}
	if port, ok := optionPort(d, d.Trim(at)); ok {
		return port
	}
	return d.Port(at)
}

var (
	// optionValue is the value of an option in the results of an ArgParser, and optionDefault the option's default.
	optionValue   = regexp.MustCompile(`(?:\w\[|\.\s*option\()\s*['"](?P<name> *)['"]\s*[\])]`)
	optionDefault = regexp.MustCompile(`\.addOption\s*\(\s*['"](?P<name> *)['"][^;()]{0,400}?\bdefaultsTo\s*:\s*`)
	optionAdded   = regexp.MustCompile(`\.addOption\s*\(\s*['"](?P<name> *)['"]`)
	wholeName     = source.Exactly(`\w+!?`)
)

// optionPort returns the default of the option that an expression is parsed from: int.parse(results['port']). It
// reports whether the expression is one of an option.
func optionPort(d *address.Names, at source.Span) (address.Port, bool) {
	parsed := at
	if code := d.Slice(at); wholeName.MatchString(code) {
		for _, m := range d.FindAll(declaration, -1) {
			if name, _ := d.Group(declaration, m, "name"); name == strings.TrimSuffix(code, "!") {
				parsed = source.Span{From: m[1], To: d.Until(m[1], ";")}
			}
		}
	}
	unknown := address.Port{Number: address.UnknownPort, At: at.From}
	for _, value := range d.FindAll(optionValue, -1) {
		if value[0] < parsed.From || value[1] > parsed.To {
			continue
		}
		wanted, _ := d.Group(optionValue, value, "name")
		for _, m := range d.FindAll(optionDefault, -1) {
			if name, _ := d.Group(optionDefault, m, "name"); name == wanted {
				return d.Port(source.Span{From: m[1], To: d.Until(m[1], ",")}), true
			}
		}
		if slices.Contains(d.Names(optionAdded), wanted) {
			return unknown, true
		}
	}
	return unknown, false
}
