package dotnet

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var (
	useHTTPS = lazyregexp.New(`\bUseHttps\s*\(`)
	// requiresClient is what makes Kestrel, or Grpc.Core, refuse a client without a certificate.
	requiresClient = lazyregexp.New(`\bClientCertificateMode\s*\.\s*RequireCertificate\b|` +
		`\bSslClientCertificateRequestType\s*\.\s*RequestAndRequireAndVerify\b`)
	// lambda is the function that sets the options of an endpoint, with its parameter.
	lambda = lazyregexp.New(`^(?:\(?\s*(?:\w+\s+)?(?P<name>\w+)\s*\)?\s*=>|fun\s+(?P<name>\w+)\s*->|` +
		`(?:Sub|Function)\s*\(\s*(?P<name>\w+)[^)]*\))`)
	sslCredentials = lazyregexp.New(`\bSslServerCredentials\s*\(`)
	insecure       = lazyregexp.New(`\bServerCredentials\s*\.\s*Insecure\b`)
	protocols      = lazyregexp.New(`\bHttpProtocols\s*\.\s*(?P<name>Http\w+)`)
	// httpsDefaults and endpointDefaults set what holds for all endpoints of a program.
	httpsDefaults    = lazyregexp.New(`\bConfigureHttpsDefaults\s*\(`)
	endpointDefaults = lazyregexp.New(`\bConfigureEndpointDefaults\s*\(`)
	anyScheme        = lazyregexp.New(`^[$@]*"?(?i:(?P<scheme>https?)://)`)
)

// endpointSecurity returns the security that the further arguments of a call give its endpoint. The call stands at an
// offset.
func endpointSecurity(d *address.Names, at int, options []source.Span) plan.Security {
	if len(options) == 0 {
		return plan.Security{Transport: plan.Plaintext}
	}
	all := source.Span{From: options[0].From, To: options[len(options)-1].To}
	code := d.Code[all.From:all.To]
	m := useHTTPS.FindIndex(code)
	if m == nil {
		if isPassedOn(d.Slice(all)) {
			return plan.Security{}
		}
		return plan.Security{Transport: plan.Plaintext}
	}
	says := plan.Security{Transport: plan.TLS}
	if requiresClient.Match(code) {
		says.Transport = plan.MutualTLS
	}
	says.Place.Line = d.Line(all.From + m[0])
	if first, _ := d.Arguments(all.From + m[1]); first[0].From < first[0].To {
		says.Certificate = certificateOf(d, first[0])
	}
	if isElsewhere(d, all.From+m[0], at) {
		return plan.Security{Transport: plan.Plaintext}
	}
	if conditions := d.ConditionsAround(all.From+m[0], at); len(conditions) > 0 {
		return plan.Security{Setting: settingKey(d.OnlyDecider(conditions)), Place: says.Place}
	}
	return says
}

// certificateOf returns the file of the certificate that UseHttps is given, "" if it is not known.
func certificateOf(d *address.Names, s source.Span) string {
	for _, v := range valuesOf(d, s) {
		if m := fromPEM.FindIndex(d.Code[v.From:v.To]); m != nil {
			if file, ok := d.Argument(v.From+m[1], 0); ok {
				return text(d, file)
			}
		}
	}
	return certificate(text(d, s))
}

// fromPEM reads a certificate and its key from their files.
var fromPEM = lazyregexp.New(`\bCreateFromPemFile\s*\(`)

// certificate returns a file with a certificate: a key store is none that a probe can read.
func certificate(file string) string {
	if strings.HasSuffix(file, ".pfx") || strings.HasSuffix(file, ".p12") {
		return ""
	}
	return file
}

// settingKey returns what decides, with a setting's key as .NET writes it: Grpc:Tls.
func settingKey(decider string) string {
	if strings.HasPrefix(decider, "$") {
		return decider
	}
	return strings.ReplaceAll(decider, ".", ":")
}

// isPassedOn reports whether options are set by a function elsewhere: options are no lambda, or one that gives its
// parameter to another function.
func isPassedOn(options string) bool {
	m := lambda.FindStringSubmatch(options)
	if m == nil {
		return !strings.HasPrefix(options, "HttpProtocols")
	}
	parameter := m[1] + m[2] + m[3]
	return lazyregexp.New(`[(,]\s*` + parameter + `\s*[,)]`).MatchString(options[len(m[0]):])
}

// protocolsIn returns the protocols that the options of an endpoint name, "" for none.
func protocolsIn(t *source.Text, options []source.Span) string {
	for _, s := range options {
		if m := protocols.FindSubmatch(t.Code[s.From:s.To]); m != nil {
			return string(m[1])
		}
	}
	return ""
}

// credentials returns the security that the credentials of a ServerPort of Grpc.Core give.
func credentials(d *address.Names, s source.Span) plan.Security {
	var values []source.Span
	for _, v := range valuesOf(d, s) {
		values = append(values, returnedBy(d, v)...)
	}
	if insecure.MatchString(d.Slice(s)) {
		values = []source.Span{s}
	}
	var only plan.Security
	for i, v := range values {
		says := credentialsIn(d, v)
		if i > 0 && says.Transport != only.Transport {
			return plan.Security{Setting: settingKey(d.OnlyDecider(d.ConditionsAround(v.From, 0)))}
		}
		only = says
	}
	return only
}

// ownCall is a call of a method of the source's own.
var ownCall = source.Exactly(`(?:this\.)?(?P<name>\w+)\s*\([^()]*\)`)

// returnedBy returns what a method returns that an expression calls, and of anything else the expression itself.
func returnedBy(d *address.Names, s source.Span) []source.Span {
	if m := ownCall.FindStringSubmatch(d.Slice(s)); m != nil {
		called := d.FunctionCalled(address.Use{Dotted: m[1], At: s.From})
		if values := d.Values(called, s.From); len(values) > 0 {
			return values
		}
	}
	return []source.Span{s}
}

// credentialsIn returns the security that an expression says, which makes credentials. One that chooses says nothing.
func credentialsIn(d *address.Names, s source.Span) plan.Security {
	code := d.Code[s.From:s.To]
	ssl := sslCredentials.FindIndex(code)
	switch {
	case ssl != nil && insecure.Match(code):
		return plan.Security{Setting: settingKey(d.Decider(s))}
	case insecure.Match(code):
		return plan.Security{Transport: plan.Plaintext}
	case ssl == nil:
		return plan.Security{}
	}
	// new SslServerCredentials(pairs, rootCertificates, forceClientAuth): Grpc.Core, SslServerCredentials.cs.
	arguments, _ := d.Arguments(s.From + ssl[1])
	if len(arguments) < 2 {
		return plan.Security{Transport: plan.TLS}
	}
	if len(arguments) == 2 {
		return plan.Security{}
	}
	switch last := d.Slice(arguments[2]); {
	case requiresClient.MatchString(last), strings.HasSuffix(last, "true"), strings.HasSuffix(last, "True"):
		return plan.Security{Transport: plan.MutualTLS}
	case strings.HasSuffix(last, "false"), strings.HasSuffix(last, "False"), strings.Contains(last, "."):
		return plan.Security{Transport: plan.TLS}
	}
	return plan.Security{}
}

// urls returns the endpoints that arguments are, which are URLs or lists of them.
func urls(d *address.Names, arguments []source.Span) []endpoint {
	var found []endpoint
	for _, s := range arguments {
		all := strings.Split(text(d, s), ";")
		if all[0] == "" {
			e := newEndpoint(d.Value(s), securityOfURL(d, s), "")
			if e.security.Transport == plan.UnknownTransport {
				e.security.Setting = settingKey(d.Decider(s))
			}
			e.isURL = true
			found = append(found, e)
			continue
		}
		for _, url := range all {
			found = append(found, urlEndpoint(url, d.Line(s.From)))
		}
	}
	return found
}

// securityOfURL returns the security that the scheme of a URL says, which an expression has itself or by its names.
func securityOfURL(d *address.Names, s source.Span) plan.Security {
	var says plan.Security
	for _, r := range d.Reach(s) {
		of := schemeSecurity(string(d.Raw[r.From:r.To]))
		if says.Transport != plan.UnknownTransport && of.Transport != plan.UnknownTransport && of != says {
			return plan.Security{}
		}
		if of.Transport != plan.UnknownTransport {
			says = of
		}
	}
	return says
}

// schemeSecurity returns the security that the scheme of a URL says.
func schemeSecurity(url string) plan.Security {
	switch m := anyScheme.FindStringSubmatch(url); {
	case m == nil:
		return plan.Security{}
	case strings.EqualFold(m[1], "https"):
		return plan.Security{Transport: plan.TLS}
	}
	return plan.Security{Transport: plan.Plaintext}
}

// defaultsIn returns what a source sets for all endpoints.
func defaultsIn(t *source.Text, names func() *address.Names) []finding.Finding {
	var found []finding.Finding
	for _, m := range t.FindAll(endpointDefaults, 1) {
		_, all := t.Arguments(m[1])
		of := kestrelDefaults{Site: finding.AtLine(t.Line(m[0]), ""), protocols: protocolsIn(t, []source.Span{all})}
		if https := useHTTPS.FindIndex(t.Code[all.From:all.To]); https != nil {
			of.https = plan.Security{Transport: plan.TLS}
			if conditions := names().ConditionsAround(all.From+https[0], 0); len(conditions) > 0 {
				of.https = plan.Security{Setting: settingKey(names().OnlyDecider(conditions))}
			}
			of.https.Place.Line = of.Line
		}
		found = append(found, of)
	}
	for _, m := range t.FindAll(httpsDefaults, 1) {
		_, all := t.Arguments(m[1])
		if requiresClient.Match(t.Code[all.From:all.To]) {
			found = append(found, kestrelDefaults{Site: finding.AtLine(t.Line(m[0]), ""), requiresClient: true})
		}
	}
	return found
}
