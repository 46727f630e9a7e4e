package php

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// listens are the listeners of the grpc extension.
var listens = []analyzer.Listen{{Code: lazyregexp.New(`->add(?:Secure)?Http2Port\(`), Argument: 1}}

// transports are the transports of the grpc extension and of Swoole.
var transports = []analyzer.Rule{
	{Code: lazyregexp.New(`->addHttp2Port\(`), Proves: finding.Insecure},
	{Code: lazyregexp.New(`->addSecureHttp2Port\(`), Proves: finding.UsesTLS},
	// The flag of a socket of Swoole and OpenSwoole.
	{Code: lazyregexp.New(`\bSWOOLE_SSL\b|\bConstant::SSL\b|\|\s*(?:\\?\w+\\?)*::SSL\b`), Proves: finding.UsesTLS},
}

// callbackMethod is the text behind the class in a callback: [Server::class, 'onRequest'].
var callbackMethod = lazyregexp.New(`^\s*,\s*['"]`)

// maxEnclosing is how many brackets around a callback are searched for the port.
const maxEnclosing = 5

// hyperfListener returns the listener of the server of a callback at an offset. The port is in the innermost array
// around the callback with a key "port".
func (p *pass) hyperfListener(at int) []finding.Finding {
	for range maxEnclosing {
		if _, at = p.Around(at, 0, ""); at < 0 {
			break
		}
		elements, _ := p.Arguments(at + 1)
		options := map[string]source.Span{}
		for _, e := range elements {
			if key, _, ok := strings.Cut(string(p.Raw[e.From:e.To]), "=>"); ok {
				options[strings.Trim(strings.TrimSpace(key), `'"`)] = source.Span{From: e.From + len(key), To: e.To}
			}
		}
		if port, ok := options["port"]; ok {
			return []finding.Finding{finding.Listens(p.AddressOn(options["host"], port))}
		}
	}
	return nil
}

// openSwooleListener returns the address of new Server(host, port, mode, socket type), from the offset after the class.
func (p *pass) openSwooleListener(from int) []finding.Finding {
	if from < len(p.Code) && p.Code[from] == '(' {
		if arguments, _ := p.Arguments(from + 1); len(arguments) > 1 {
			return []finding.Finding{finding.Listens(p.AddressOn(arguments[0], arguments[1]))}
		}
	}
	return nil
}

var (
	// assignment gives a value to a variable, a property or a constant.
	assignment = lazyregexp.New(`(?:\$(?:this->)?|\bself::\$|\bconst\s+(?:[a-z]+\s+)?)` +
		`(?P<name>\w+)\s*(?:\?\?)?=\s*`)
	// definedConstant is define('PORT', 50051).
	definedConstant = lazyregexp.New(`\bdefine\(\s*["'](?P<name> *)["']\s*,\s*`)
)

func namesIn(t *source.Text) *address.Names {
	return address.Read(t, ";,", assignment, definedConstant)
}
