package values

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
)

// Address returns the address that an expression of a source states for a listener, and where it is written. The
// network is an expression too, nil for TCP. The zero value of made stands for whatever makes the listener. Nothing but
// the place and the variable is known if the expression states no address, or several, or may have a value that is not
// known.
func (s *Sources) Address(in *Source, network, e ast.Expr, made Made) address.Address {
	s.nameDefaults()
	s.begin()
	x := expression{Expr: e, in: in, call: made.by}
	isSocket := network != nil && s.isUnix(x.with(network))
	s.begin()
	unknown := address.Address{Place: x.place()}
	if isSocket {
		unknown.Host = address.UnixSocket
	}
	var found []value
	for _, v := range s.evaluate(x, 0) {
		if v.isUnknownPort() {
			return unknown
		}
		found = append(found, v)
	}
	isSet := func(v value) bool { return v.port() != "" && v.port() != "0" }
	if !slices.ContainsFunc(found, isSet) {
		if len(found) > 0 {
			unknown.Place, unknown.Variable = found[0].at, onlyVariable(found)
		}
		return unknown
	}
	setting := ""
	for _, v := range found {
		if !isSet(v) {
			setting = either(setting, v.setting)
		}
	}
	found = slices.DeleteFunc(found, func(v value) bool { return !isSet(v) })
	return oneAddress(replaceable(found, setting), isSocket, unknown)
}

// IsExecuted reports whether an expression of a source is executed if nothing is set, or may be.
func (s *Sources) IsExecuted(in *Source, e ast.Expr, made Made) bool {
	s.begin()
	return s.executed(expression{Expr: e, in: in, call: made.by}, e.Pos(), token.NoPos, 0).holds != no
}

// oneAddress returns the one address that all values are, or else the unknown one.
func oneAddress(values []value, isSocket bool, unknown address.Address) address.Address {
	var one address.Address
	for i, v := range values {
		a := v.address(isSocket)
		switch {
		case a.Certainty == address.Unknown || i > 0 && (a.Port != one.Port || a.Socket != one.Socket):
			return unknown
		case i == 0:
			one = a
		case a.Host != one.Host:
			one.Host = address.UnknownHost
		}
		if v.setting != "" {
			one.Certainty = address.Default
		}
	}
	if one.Certainty == address.Default {
		one.Variable = oneVariable(values)
	}
	return one
}

// isUnix reports whether a network is one of Unix domain sockets, by default at least.
func (s *Sources) isUnix(network expression) bool {
	found := s.evaluate(network, 0)
	return len(found) > 0 && !slices.ContainsFunc(found, func(v value) bool {
		return !strings.HasPrefix(v.text, "unix") || v.isUnknown()
	})
}

// onlyVariable returns the environment variable that alone gives an address, if all values are that variable, which is
// not set, or no address at all; otherwise "".
func onlyVariable(values []value) string {
	set := slices.DeleteFunc(slices.Clone(values), func(v value) bool { return v.setting == "" })
	if len(set) == 0 {
		return ""
	}
	return oneVariable(set)
}

// oneVariable returns the environment variable that replaces all values, "" if none does.
func oneVariable(values []value) string {
	name, isVariable := strings.CutPrefix(values[0].setting, "$")
	if !isVariable || slices.ContainsFunc(values, func(v value) bool { return v.setting != values[0].setting }) {
		return ""
	}
	return name
}

// port returns what stands after the last colon of an address.
func (v value) port() string { return v.text[strings.LastIndexByte(v.text, ':')+1:] }

// isUnknownPort reports whether an address has a port that is not known.
func (v value) isUnknownPort() bool { return strings.Contains(v.port(), unknownPart) }

// address returns the address that a value is, which may be the path of a socket.
func (v value) address(isSocket bool) address.Address {
	text := v.text
	if isSocket && v.isPartial {
		return address.Address{Host: address.UnixSocket, Place: v.at}
	}
	if isSocket {
		text = socket(text)
	} else if host := strings.TrimSuffix(text, v.port()); strings.Contains(host, unknownPart) {
		text = v.port() // whatever its host is
	}
	a := address.Parse(address.TrimScheme(text))
	a.Place = v.at
	return a
}

// socket returns the name of a socket as -addr of the probe takes it: a name that begins with an at sign is abstract
// (net.Listen).
func socket(name string) string {
	if abstract, ok := strings.CutPrefix(name, "@"); ok {
		return "unix-abstract:" + abstract
	}
	file := strings.TrimPrefix(name, "unix:")
	if strings.HasPrefix(file, "/") {
		file = path.Clean(file) // unix:///run/app.sock and //run/app.sock name the same socket
	}
	return "unix:" + file
}
