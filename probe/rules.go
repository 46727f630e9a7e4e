package probe

import (
	"errors"
	"fmt"
	"time"
	"unicode/utf8"
)

// rule is a combination of values that cannot be meant.
type rule struct {
	broken  bool
	problem string
	hint    string
}

// checkRules returns the first broken rule as a *Failure. The rules are those
// of grpc-health-probe v0.4.56, in its order.
func (o *Options) checkRules() error {
	rules := o.timeoutRules()
	rules = append(rules, o.credentialRules()...)
	rules = append(rules, o.tlsRules()...)
	rules = append(rules, o.textRules()...)
	for _, r := range rules {
		if r.broken {
			return misuse(errors.New("checking flags: "+r.problem), r.hint)
		}
	}
	return nil
}

func (o *Options) timeoutRules() []rule {
	return []rule{positive("connect-timeout", o.ConnectTimeout), positive("rpc-timeout", o.RPCTimeout)}
}

func positive(name string, d time.Duration) rule {
	return rule{d <= 0, fmt.Sprintf("-%s must be more than zero, not %q", name, d), "give it a duration such as 1s"}
}

func (o *Options) credentialRules() []rule {
	return []rule{exclude("alts", o.ALTS, "spiffe", o.SPIFFE),
		exclude("tls", o.TLS, "alts", o.ALTS), exclude("tls", o.TLS, "spiffe", o.SPIFFE)}
}

func (o *Options) tlsRules() []rule {
	needs := func(set bool, name, other string, otherSet bool) rule {
		return rule{set && !otherSet, fmt.Sprintf("-%s needs -%s", name, other), fmt.Sprintf("add -%s, or leave out -%s", other, name)}
	}
	cert, key := o.TLSClientCert != "", o.TLSClientKey != ""
	return []rule{
		needs(o.TLSNoVerify, "tls-no-verify", "tls", o.TLS),
		needs(o.TLSCACert != "", "tls-ca-cert", "tls", o.TLS),
		needs(cert, "tls-client-cert", "tls", o.TLS),
		needs(key, "tls-client-key", "tls", o.TLS),
		needs(o.TLSServerName != "", "tls-server-name", "tls", o.TLS),
		needs(cert, "tls-client-cert", "tls-client-key", key),
		needs(key, "tls-client-key", "tls-client-cert", cert),
		exclude("tls-no-verify", o.TLSNoVerify, "tls-ca-cert", o.TLSCACert != ""),
		exclude("tls-no-verify", o.TLSNoVerify, "tls-server-name", o.TLSServerName != ""),
	}
}

// textRules keeps out of HTTP/2 headers and protobuf strings what they cannot
// carry.
func (o *Options) textRules() []rule {
	const ascii = "use letters, digits and signs of ASCII only"
	return []rule{
		{!isHeaderText(o.UserAgent), fmt.Sprintf("-user-agent cannot be sent: %q", o.UserAgent), ascii},
		{!utf8.ValidString(o.Service), fmt.Sprintf("-service is not UTF-8: %q", o.Service), "a protobuf string is UTF-8"},
		{o.TLSServerName != "" && !isHost(o.TLSServerName), fmt.Sprintf("-tls-server-name is no host name: %q", o.TLSServerName), ascii},
	}
}

func exclude(one string, oneSet bool, other string, otherSet bool) rule {
	return rule{oneSet && otherSet, fmt.Sprintf("-%s and -%s exclude each other", one, other), "keep one of the two"}
}
