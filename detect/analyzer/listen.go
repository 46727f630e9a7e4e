package analyzer

import (
	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Listen is one row of a language's table of listeners: a pattern of code, and the position of the address.
type Listen struct {
	// Code is matched against the code. The group "address" is the expression of the address. Without the group the
	// match ends with the bracket of a call, and Argument selects the address among the arguments. A group "host" is
	// the expression of the host alone.
	Code *lazyregexp.Regexp
	// Argument is the number of the argument with the address or the port, from 1. Host is the number of an argument
	// with the host alone. 0 stands for none, and an Argument of -1 for the last argument.
	Argument, Host int
	// Name is the optional name of the argument, as in port: 50051; "" for none.
	Name string
	// Needs must match the code of a file for the row to count, nil for all files.
	Needs *lazyregexp.Regexp
}

// maxListeners bounds the listeners of one row in one file.
const maxListeners = 16

// Listeners returns the listeners of the rows in a text. names are the declared names of the text. A call without the
// argument has no listener.
func Listeners(names *address.Names, rows []Listen) []finding.Finding {
	var found []finding.Finding
	for _, r := range rows {
		if r.Needs != nil && !names.Matches(r.Needs) {
			continue
		}
		for _, m := range names.FindCalls(r.Code, maxListeners) {
			host, port, ok := r.spans(names.Text, m)
			if !ok {
				continue
			}
			l := finding.Listens(names.AddressOn(host, port))
			l.Site = finding.At(names.Text, source.Span{From: m[0], To: m[1]}).Quiet()
			found = append(found, l)
		}
	}
	return found
}

// spans returns the expressions of the host, empty for none, and of the address. ok is false for a call without an
// address.
func (r Listen) spans(t *source.Text, match []int) (host, port source.Span, ok bool) {
	for i, group := range r.Code.SubexpNames() {
		span := source.Span{From: match[2*i], To: match[2*i+1]}
		switch {
		case span.From < 0:
		case group == "address":
			port, ok = span, true
		case group == "host":
			host = span
		}
	}
	if ok || r.Argument == 0 && r.Name == "" {
		return host, port, ok
	}
	if r.Host > 0 {
		host, _ = t.Argument(match[1], r.Host-1)
	}
	number := r.Argument - 1
	if r.Argument < 0 {
		each, _ := t.Arguments(match[1])
		number = len(each) - 1
	}
	if r.Name != "" {
		port, ok = t.Argument(match[1], number, r.Name)
	} else {
		port, ok = t.Argument(match[1], number)
	}
	return host, port, ok
}
