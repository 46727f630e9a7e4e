package values

import (
	"go/ast"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	// parsedIP are functions whose result is an IP address, or one with a port, of the text that they are given.
	parsedIP = source.Exactly(`net\.ParseIP|net/netip\.(?:Must)?Parse(?:Addr|AddrPort)`)
	// madeIP are these, further ones that make such an address, and flags of that type.
	madeIP = source.Exactly(`net\.(?:ParseIP|IPv4)|net/netip\.(?:(?:Must)?Parse(?:Addr|AddrPort)|AddrPortFrom)|` +
		`(?:.*[./])?IPP?`)
	// namedIP are the addresses that package net has names for.
	namedIP = map[string]string{
		"net.IPv4zero": "0.0.0.0", "net.IPv6zero": "[::]", "net.IPv6unspecified": "[::]", "net.IPv6loopback": "[::1]",
	}
)

// evaluateIP returns the texts of an IP address, or of one with a port, that a call makes. ok is false for another
// call.
func (s *Sources) evaluateIP(x expression, call *ast.CallExpr, nesting int) (texts []value, ok bool) {
	args := make([]expression, len(call.Args))
	for i, arg := range call.Args {
		args[i] = x.with(arg)
	}
	method, isMethod := syntax.Called(call).(*ast.SelectorExpr)
	switch qualified := x.in.Qualified(call); {
	case parsedIP.MatchString(qualified) && len(args) == 1:
		return s.evaluate(args[0], nesting+1), true
	case qualified == "net.IPv4" && len(args) == 4:
		return s.join("%s.%s.%s.%s", args, nesting), true
	case qualified == "net/netip.AddrPortFrom" && len(args) == 2:
		return s.joinHostPort(args, nesting), true
	case isMethod && len(args) == 0 && method.Sel.Name == "String" && s.isIP(x.with(method.X), nesting):
		return s.evaluate(x.with(method.X), nesting+1), true
	}
	return nil, false
}

// isIP reports whether all that an expression may be is made as an IP address.
func (s *Sources) isIP(x expression, nesting int) bool {
	all := s.leaves(x, truth{}, map[evaluation]bool{}, nesting+1)
	for _, l := range all {
		call, isCall := l.Expr.(*ast.CallExpr)
		if !isCall || !madeIP.MatchString(l.in.Qualified(call)) {
			return false
		}
	}
	return len(all) > 0
}

// evaluateTCPAddr returns the addresses that a net.TCPAddr stands for, whose IP address may be left out. ok is false
// for another literal.
func (s *Sources) evaluateTCPAddr(x expression, literal *ast.CompositeLit, nesting int) (addresses []value, ok bool) {
	port := s.element(x.with(literal), "Port")
	if port.Expr == nil || syntax.LastName(literal.Type) != "TCPAddr" {
		return nil, false
	}
	host := s.element(x.with(literal), "IP")
	if host.Expr == nil {
		host.constant = &value{at: x.place()}
	}
	return s.joinHostPort([]expression{host, port}, nesting), true
}

// joinHostPort returns the addresses of a host and a port, with brackets around an address of IPv6 that has none.
func (s *Sources) joinHostPort(hostPort []expression, nesting int) []value {
	addresses := slices.Clone(s.join("%s:%s", hostPort, nesting))
	for i, a := range addresses {
		colon := strings.LastIndexByte(a.text, ':')
		if colon > 0 && a.text[0] != '[' && strings.Contains(a.text[:colon], ":") {
			addresses[i].text = "[" + a.text[:colon] + "]" + a.text[colon:]
		}
	}
	return addresses
}
