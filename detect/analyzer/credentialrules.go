package analyzer

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// CredentialRules are how the code of a language, or of a framework, says what carries the calls of a server. The
// patterns are matched against code, in which the contents of strings are blank.
type CredentialRules struct {
	// Plaintext and TLS match what makes credentials without TLS and with it. A TLS that is nil stands for whatever the
	// server is given.
	Plaintext, TLS *regexp.Regexp
	// Requires matches what makes TLS require a client certificate, and Optional what makes it do without one.
	Requires, Optional *regexp.Regexp
}

// Of returns what the credentials in a span are. They are followed within the text. If they are made or given on a
// condition that does not hold for the code at the offset of the server too, they are not known, and the condition is
// the setting.
func (c CredentialRules) Of(names *address.Names, given source.Span, server int) plan.Security {
	reached := names.Reach(given)
	in := func(pattern *regexp.Regexp) []source.Span { return matching(names, reached, pattern) }
	plaintext, tls := in(c.Plaintext), in(c.TLS)
	if c.TLS == nil {
		tls = []source.Span{given}
	}
	var says plan.Security
	var conditions []source.Span
	for _, s := range slices.Concat(tls, plaintext) {
		conditions = append(conditions, names.ConditionsAround(s.From, server)...)
	}
	switch {
	case len(tls)+len(plaintext) == 0:
	case len(tls) > 0 && len(plaintext) > 0:
		says.Setting = Setting(names, append(conditions, given))
	case len(conditions) > 0:
		says.Setting = Setting(names, conditions)
	case len(plaintext) > 0:
		says.Transport = plan.Plaintext
	default:
		c.tls(&says, names, reached, in)
	}
	return says
}

// matching returns where a pattern matches in spans, in each of them once.
func matching(names *address.Names, spans []source.Span, pattern *regexp.Regexp) []source.Span {
	var found []source.Span
	for _, s := range spans {
		if pattern == nil {
			break
		}
		if m := pattern.FindStringIndex(names.Slice(s)); m != nil {
			found = append(found, source.Span{From: s.From + m[0], To: s.From + m[1]})
		}
	}
	return found
}

// tls adds what is known of credentials that are TLS. If a client certificate is asked for on a condition, that they
// are TLS is all that is known.
func (c CredentialRules) tls(
	says *plan.Security, names *address.Names, reached []source.Span, in func(p *regexp.Regexp) []source.Span,
) {
	says.Transport = plan.TLS
	requires := in(c.Requires)
	isConditional := func(s source.Span) bool { return len(names.ConditionsAround(s.From, reached[0].From)) > 0 }
	if len(requires) > 0 && len(in(c.Optional)) == 0 && !slices.ContainsFunc(requires, isConditional) {
		says.Transport = plan.MutualTLS
	}
	certificates, authorities := files(names.Strings(reached))
	if len(certificates) == 1 {
		says.Certificate = certificates[0]
	}
	if says.Transport == plan.MutualTLS && len(authorities) == 1 {
		says.Authority = authorities[0]
	}
}

var (
	ownCertificateFile  = regexp.MustCompile(`(?i)\.(?:pem|crt|cer|cert)$`)
	privateKeyFile      = regexp.MustCompile(`(?i)key`)
	clientAuthorityFile = regexp.MustCompile(`(?i)(?:^|[^a-z])ca(?:[^a-z]|$)|root|trust|client`)
)

// files returns those of texts that name files with a server's certificate and with authorities.
func files(texts []string) (certificates, authorities []string) {
	for _, text := range texts {
		switch name := path.Base(text); {
		case !ownCertificateFile.MatchString(name), strings.ContainsAny(text, " {}$%\\"),
			privateKeyFile.MatchString(name):
		case clientAuthorityFile.MatchString(name):
			authorities = append(authorities, text)
		default:
			certificates = append(certificates, text)
		}
	}
	return certificates, authorities
}

var (
	// securityWord is in the names of variables and options that decide on TLS.
	securityWord = regexp.MustCompile(`(?i)tls|ssl|secur|cert|plain|https|encrypt`)
	flagName     = regexp.MustCompile(`\bFLAGS_(\w+)`)
	optionName   = regexp.MustCompile(`\b[A-Za-z_]\w*(?:(?:\.|->|::)\w+)*`)
)

// Setting returns what decides a condition, for people: the environment variable that it asks for, a flag, or the
// option as the source writes it. It is "" if none has a name that says so.
func Setting(names *address.Names, conditions []source.Span) string {
	var reached []source.Span
	for _, s := range conditions {
		reached = append(reached, names.Reach(s)...)
	}
	for _, name := range names.Variables(reached) {
		if securityWord.MatchString(name) {
			return "$" + name
		}
	}
	for _, s := range reached {
		for _, m := range flagName.FindAllStringSubmatch(names.Slice(s), -1) {
			if securityWord.MatchString(m[1]) {
				return "the flag --" + m[1]
			}
		}
	}
	return option(names, conditions)
}

// option returns the longest name in conditions that says that it is about TLS, without the method that is called.
func option(names *address.Names, conditions []source.Span) string {
	longest := ""
	for _, s := range conditions {
		code := names.Slice(s)
		for _, m := range optionName.FindAllStringIndex(code, -1) {
			name := code[m[0]:m[1]]
			if m[1] < len(code) && code[m[1]] == '(' {
				name = name[:max(0, strings.LastIndexAny(name, ".>:"))]
			}
			if len(name) > len(longest) && securityWord.MatchString(name) {
				longest = name
			}
		}
	}
	return longest
}
