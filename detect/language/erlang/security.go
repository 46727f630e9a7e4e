package erlang

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var (
	transportOpts = lazyregexp.New(`\btransport_opts\s*(?:=>|,)\s*`)
	// grpcboxTLS are the transport_opts of grpcbox, whose TLS always requires a client certificate, and which has none
	// unless all of tlsFiles are there (src/grpcbox_pool.erl).
	grpcboxTLS = analyzer.Credentials{
		Plaintext: lazyregexp.New(`#\{\s*\}|\bssl\s*=>\s*false\b`),
		TLS:       lazyregexp.New(`\bssl\s*=>\s*true\b`),
		Requires:  lazyregexp.New(`\bssl\s*=>\s*true\b`),
	}
	tlsFiles = []*lazyregexp.Regexp{
		lazyregexp.New(`\bkeyfile\s*=>`), lazyregexp.New(`\bcertfile\s*=>`),
		lazyregexp.New(`\bcacertfile\s*=>`),
	}
	// grpcErlTLS are the options of grpc-erl: those for TLS are there or not (src/grpc.erl).
	grpcErlTLS = analyzer.Credentials{
		TLS:      lazyregexp.New(`\bssl_options\s*,\s*\[\s*[^\s\]]|\bcertfile\s*,`),
		Requires: lazyregexp.New(`\bfail_if_no_peer_cert\s*,\s*true\b`),
	}
	sslOptions = lazyregexp.New(`\bssl_options\b`)
)

// grpcboxSecurity returns what the transport_opts in a text say.
func grpcboxSecurity(names *address.Names) []finding.Finding {
	var found []finding.Finding
	add := func(given source.Span) {
		says := grpcboxTLS.Of(names, given, given.From)
		if says.Transport == plan.MutualTLS && !hasFiles(names, given) {
			says = plan.Security{Transport: plan.Plaintext}
		}
		found = append(found, finding.SecurityAt(names.Line(given.From), says))
	}
	for _, m := range names.FindAll(transportOpts, address.MaxListeners) {
		add(source.Span{From: m[1], To: names.Until(m[1], ",")})
	}
	for _, m := range names.FindAll(childSpec, address.MaxListeners) {
		if options, ok := names.Argument(m[1], 4); ok {
			add(options)
		}
	}
	return found
}

// hasFiles reports whether options name all files without which grpcbox has no TLS.
func hasFiles(names *address.Names, given source.Span) bool {
	var code []byte
	for _, s := range names.Reach(given) {
		code = append(code, names.Code[s.From:s.To]...)
	}
	for _, file := range tlsFiles {
		if !file.Match(code) {
			return false
		}
	}
	return true
}

// grpcErlSecurity returns what the options of a server of grpc-erl say, which are in a span. A list without options of
// TLS has none.
func grpcErlSecurity(names *address.Names, options source.Span) finding.Finding {
	says := grpcErlTLS.Of(names, options, options.From)
	isList, asks := false, false
	for _, s := range names.Reach(options) {
		code := names.Slice(s)
		isList = isList || strings.HasPrefix(code, "[")
		asks = asks || sslOptions.MatchString(code)
	}
	if isList && !asks {
		says.Transport = plan.Plaintext
	}
	return finding.SecurityAt(names.Line(options.From), says)
}
