package haskell

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var declarations = []*lazyregexp.Regexp{
	lazyregexp.New(`(?m)^[ \t]*(?:(?:let|where)[ \t]+)?(?P<name>[a-z_]\w*)[ \t]*=\s+`),
	lazyregexp.New(`(?m)^[ \t]*(?P<name>[a-z_]\w*)[ \t]*<-\s+`),
}

// An argument of a function needs brackets unless the argument is an atom: a name, a number, a string.
const (
	atom    = `(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|"[ ]*"|[\w.']+)`
	field   = `\s*=\s+(?P<address>[^,\n}]+)`
	operand = `\s+(?P<address>` + atom + `)`
)

// grapesyListens match the configuration of grapesy's servers, by fields or by arguments
// (grapesy/src/Network/GRPC/Server/Run.hs).
var grapesyListens = []analyzer.Listen{
	{Code: lazyregexp.New(`\b(?:(?:insecure|secure)Host\s*=\s+(?P<host>[^,\n}]+)[,\s]*)?` +
		`\b(?:insecure|secure)Port` + field)},
	{Code: lazyregexp.New(`\b(?:Insecure|Secure)Config\s+(?P<host>` + atom + `)` + operand)},
}

var (
	// grapesySocket is the path of a Unix domain socket, and grapesyDefault matches grapesy's constants for ports
	// (grapesy/src/Network/GRPC/Common.hs).
	grapesySocket  = lazyregexp.New(`\b(?:InsecureUnix|insecurePath\s*=)\s+"(?P<path>[ ]*)"`)
	grapesyDefault = lazyregexp.New(`\bdefault(?:(?P<plain>Insecure)|Secure)Port\b`)
)

// grpcHaskellListens match grpc-haskell's options, and ServerConfig of the low level, with the port as the second
// argument (core/src/Network/GRPC/LowLevel/Server.hs).
var grpcHaskellListens = []analyzer.Listen{
	{Code: lazyregexp.New(`\b(?:serverPort|optServerPort)` + field)},
	{Code: lazyregexp.New(`\bServerConfig\s*\{[^{}]{0,400}?\bport` + field)},
	{Code: lazyregexp.New(`\bServerConfig\s+` + atom + operand)},
}

// defaultOptions are options of grpc-haskell that may name no port.
var defaultOptions = lazyregexp.New(`\bdefault(?:Service)?Options\b`)

// warpListens match the port of Warp, and muListens the port of Mu, the first argument in versions without several
// protocols.
var (
	warpListens = []analyzer.Listen{{Code: lazyregexp.New(`\b(?:run|runEnv|setPort)` + operand)}}
	muListens   = []analyzer.Listen{
		{Code: lazyregexp.New(`\brunGRpcApp(?:Trans)?\s+(?P<address>\d+)`)},
		{Code: lazyregexp.New(`\brunGRpcApp(?:Trans)?\s+[A-Za-z][\w.']*` + operand)},
	}
)

// transports find the security of servers of grapesy and grpc-haskell, and warpTransports of servers on Warp
// (warp-grpc/src/Network/GRPC/Server.hs, grpc/server/src/Mu/GRpc/Server.hs).
var (
	transports = []analyzer.Rule{
		{Code: lazyregexp.New(`\bInsecure(?:Config|Unix)\b`), Proves: finding.Insecure},
		{Code: lazyregexp.New(`\b(?:SecureConfig|ServerSSLConfig)\b`), Proves: finding.UsesTLS},
	}
	warpTransports = []analyzer.Rule{
		{Code: lazyregexp.New(`\b(?:runTLS|runTLSSocket|runGrpc|runGRpcAppTLS)\b`), Proves: finding.UsesTLS},
		{
			Code:   lazyregexp.New(`\b(?:run|runEnv|runSettings|runGRpcApp|runGRpcAppTrans|runGRpcAppSettings)\b`),
			Proves: finding.Insecure,
		},
	}
)

// listeners returns the listeners and the security of a text. Names that are common to several packages belong to a
// framework only in a file with findings of the framework.
func listeners(t *source.Text, findings []finding.Finding) []finding.Finding {
	uses := map[string]bool{}
	for _, f := range findings {
		uses[finding.FrameworkOf(f)] = true
	}
	names := address.Read(t, "\n", declarations...)
	found := slices.Concat(grapesyListeners(names), analyzer.Findings(t, transports, nil))
	if uses[grpcHaskell] {
		told := analyzer.Listeners(names, grpcHaskellListens)
		if m := t.FindAll(defaultOptions, 1); told == nil && m != nil {
			told = analyzer.DefaultListener(frameworks, grpcHaskell, t.Line(m[0][0]))
		}
		found = append(found, told...)
	}
	if uses[warpGRPC] || uses[muHaskell] {
		found = append(found, analyzer.Findings(t, warpTransports, nil)...)
		found = append(found, analyzer.Listeners(names, warpListens)...)
	}
	if uses[muHaskell] {
		found = append(found, analyzer.Listeners(names, muListens)...)
	}
	return found
}

func grapesyListeners(names *address.Names) []finding.Finding {
	var found []finding.Finding
	for _, m := range names.FindAll(grapesySocket, maxUses) {
		a := address.Parse("unix:" + string(names.Raw[m[2]:m[3]]))
		a.Place.Line = names.Line(m[0])
		found = append(found, finding.Listens(a, ""))
	}
	for _, m := range names.FindAll(grapesyDefault, maxUses) {
		port := "50052"
		if m[2] >= 0 {
			port = "50051"
		}
		found = append(found, finding.Listens(address.Setting(port, names.Line(m[0])), ""))
	}
	if found != nil {
		return found
	}
	return analyzer.Listeners(names, grapesyListens)
}
