package elixir

import (
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var (
	credential     = lazyregexp.New(`\bcred:\s*`)
	adapterOptions = lazyregexp.New(`\badapter_opts:\s*`)
	// credentials are those of grpc-elixir (grpc_server/lib/grpc/server/adapters/cowboy.ex), with Erlang's options.
	credentials = analyzer.Credentials{
		Plaintext: lazyregexp.New(`^\s*nil\s*$`),
		TLS:       lazyregexp.New(`\bCredential\.new\b|\bssl:`),
		Requires:  lazyregexp.New(`\bfail_if_no_peer_cert:\s*true\b`),
	}
	transportOptions = lazyregexp.New(`\btransport_opts(?::|\s*=>)\s*`)
	// grpcboxTLS is in the transport_opts of grpcbox, whose TLS always requires a client certificate. There is no TLS
	// without an authority (src/grpcbox_pool.erl).
	grpcboxTLS = analyzer.Credentials{
		Plaintext: lazyregexp.New(`%\{\s*\}|\bssl(?::|\s*=>)\s*false\b`),
		TLS:       lazyregexp.New(`\bssl(?::|\s*=>)\s*true\b`),
		Requires:  lazyregexp.New(`\bcacertfile(?::|\s*=>)`),
	}
)

// security returns what the options of a server, which are in a span, say of the security. Options that are not seen
// may have credentials.
func security(names *address.Names, options source.Span) []finding.Finding {
	at := func(from int, says plan.Security) []finding.Finding {
		return []finding.Finding{finding.SecurityAt(names.Line(from), says)}
	}
	given := func(from int) source.Span {
		return names.Trim(source.Span{From: from, To: names.Until(from, ",\n")})
	}
	reached := names.Reach(options)
	for _, r := range reached {
		code := names.Code[r.From:r.To]
		if m := credential.FindIndex(code); m != nil {
			return at(r.From+m[0], credentials.Of(names, given(r.From+m[1]), r.From))
		}
	}
	for _, r := range reached {
		code := names.Code[r.From:r.To]
		if m := adapterOptions.FindIndex(code); m != nil && !isSeen(names, given(r.From+m[1])) {
			return at(r.From+m[0], plan.Security{})
		}
	}
	return nil
}

// isSeen reports whether options are a list in the text.
func isSeen(names *address.Names, options source.Span) bool {
	for _, r := range names.Reach(options) {
		if code := names.Slice(names.Trim(r)); len(code) > 0 && code[0] == '[' {
			return true
		}
	}
	return false
}

// grpcboxSecurity returns what the transport_opts of grpcbox in a text say.
func grpcboxSecurity(names *address.Names) []finding.Finding {
	var found []finding.Finding
	for _, m := range names.FindAll(transportOptions, address.MaxListeners) {
		options := source.Span{From: m[1], To: names.Until(m[1], ",")}
		says := grpcboxTLS.Of(names, options, options.From)
		if says.Transport == plan.TLS {
			says = plan.Security{Transport: plan.Plaintext}
		}
		found = append(found, finding.SecurityAt(names.Line(m[0]), says))
	}
	return found
}
