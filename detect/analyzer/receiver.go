package analyzer

import (
	"cmp"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// receiver is the name that a call is made on, at the end of the code before its dot.
var receiver = lazyregexp.New(`([\w$.@]+)\s*$`)

// maxReceiver is how many bytes before a call are read for the name that it is made on.
const maxReceiver = 80

// Receiver returns the site of the one of several servers of a text that a call is made on whose dot is at an offset:
// server.start(). It is nil if there is one server, or if the text does not say which it is.
func Receiver(names *address.Names, servers []finding.Server, at int) *finding.Site {
	if of := Receivers(names, servers, at); len(of) == 1 {
		return of[0]
	}
	return nil
}

// Receivers returns the sites of those of several servers of a text that the name may stand for that ends at an offset:
// several if it is a parameter to which calls give one or another. It returns none if there is one server, or if the
// text does not say which they are.
func Receivers(names *address.Names, servers []finding.Server, at int) []*finding.Site {
	if len(servers) < 2 || len(servers) > address.MaxListeners {
		return nil
	}
	m := receiver.FindSubmatch(names.Code[max(0, at-maxReceiver):at])
	if m == nil {
		return nil
	}
	// A name that functions have for servers of their own is that of the function.
	if own := InFunction(names, servers, at); own != nil {
		line := names.LineCode(names.LogicalLine(finding.Offset(own)))
		if address.UsesName(string(line), string(m[1])) {
			return []*finding.Site{own}
		}
	}
	return named(names, servers, string(m[1]), at, maxGiven)
}

// InStatement returns the site of the one of several servers of a text in whose statement the code at an offset stands,
// or that the method is called of which is named there; nil if there is one server, or if the text does not say which.
func InStatement(names *address.Names, servers []finding.Server, at int) *finding.Site {
	if len(servers) < 2 || len(servers) > address.MaxListeners {
		return nil
	}
	return cmp.Or(inStatement(names, servers, at), Receiver(names, servers, max(0, at-1)))
}

func inStatement(names *address.Names, servers []finding.Server, at int) *finding.Site {
	for _, s := range slices.Backward(servers) {
		if from := finding.Offset(s); from <= at && at < names.Until(from, ";") {
			return s.Site
		}
	}
	return nil
}

// UsedBy returns the site of the one of several servers of a text that gets what is made at an offset: in its
// statement, by a variable that is named there, or in the function that both are made in; nil if the text does not say.
func UsedBy(names *address.Names, servers []finding.Server, at int) *finding.Site {
	var by *finding.Site
	uses, _ := usesOf(names, at)
	for _, use := range append(uses[:min(len(uses), address.MaxListeners)], at) {
		of := inStatement(names, servers, use)
		if of != nil && by != nil && of != by {
			return nil
		}
		by = cmp.Or(by, of)
	}
	return cmp.Or(by, InFunction(names, servers, at))
}

// InFunction returns the site of the one of several servers of a text that is made in the function which the code at an
// offset stands in; nil if none is, or several are.
func InFunction(names *address.Names, servers []finding.Server, at int) *finding.Site {
	function := names.FunctionAt(at)
	if function < 0 || len(servers) < 2 || len(servers) > address.MaxListeners {
		return nil
	}
	var own *finding.Site
	for _, s := range servers {
		if names.FunctionAt(finding.Offset(s)) != function {
			continue
		}
		if own != nil {
			return nil
		}
		own = s.Site
	}
	return own
}

// maxGiven is how many functions in a row may be given a server.
const maxGiven = 3

// named returns the sites of the servers that a name stands for where it is used; none if one of its values is not
// known to be one of them.
func named(names *address.Names, servers []finding.Server, name string, at, depth int) []*finding.Site {
	var all []*finding.Site
	for _, value := range names.Values(address.Path(name), at) {
		of := serversAt(servers, names.Line(value.From))
		if given := onlyName.FindString(names.Slice(value)); of == nil && given != "" && depth > 0 {
			of = named(names, servers, given, value.From, depth-1)
		}
		if of == nil {
			return nil
		}
		for _, site := range of {
			if !slices.Contains(all, site) {
				all = append(all, site)
			}
		}
	}
	return all
}

// onlyName is an expression that is a name.
var onlyName = lazyregexp.New(`^[\w$.@]+$`)

// serversAt returns the site of the server that is made in a line, as the only one.
func serversAt(servers []finding.Server, line int) []*finding.Site {
	for _, s := range servers {
		if s.Line == line {
			return []*finding.Site{s.Site}
		}
	}
	return nil
}
