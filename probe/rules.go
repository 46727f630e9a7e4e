package probe

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// rule is a combination of values that cannot be meant: what is wrong with it and
// what to do. The zero value is one that is kept.
type rule struct{ problem, hint string }

// broken returns the rule with its problem, formatted, if it is broken. Nothing is
// formatted for one that is kept, since rules are checked at each start.
func broken(is bool, hint, format string, args ...any) rule {
	if !is {
		return rule{}
	}
	return rule{fmt.Sprintf(format, args...), hint}
}

// checkRules returns the first broken rule as a *Failure. The rules are those
// of grpc-health-probe v0.4.56, in its order, then those of flags it has not.
func (o *Options) checkRules() error {
	for _, rules := range [][]rule{o.timeoutRules(), o.credentialRules(), o.tlsRules(), o.textRules(), o.questionRules()} {
		for _, r := range rules {
			if r.problem != "" {
				return misuse(errors.New("checking flags: "+r.problem), r.hint)
			}
		}
	}
	return nil
}

func (o *Options) timeoutRules() []rule {
	return []rule{positive("connect-timeout", o.ConnectTimeout), positive("rpc-timeout", o.RPCTimeout),
		notNegative("timeout", o.timeout), notNegative("wait", o.wait)}
}

func positive(name string, d time.Duration) rule {
	return broken(d <= 0, "give it a duration such as 1s", "-%s must be more than zero, not %q", name, d)
}

func notNegative(name string, d time.Duration) rule {
	return broken(d < 0, "give it a duration such as 30s", "-%s must not be negative, as %q is", name, d)
}

func (o *Options) credentialRules() []rule {
	return []rule{exclude("alts", o.ALTS, "spiffe", o.SPIFFE),
		exclude("tls", o.TLS, "alts", o.ALTS), exclude("tls", o.TLS, "spiffe", o.SPIFFE)}
}

func (o *Options) tlsRules() []rule {
	cert, key := o.TLSClientCert != "", o.TLSClientKey != ""
	return []rule{
		needs("tls-no-verify", o.TLSNoVerify, "tls", o.TLS),
		needs("tls-ca-cert", o.TLSCACert != "", "tls", o.TLS),
		needs("tls-client-cert", cert, "tls", o.TLS),
		needs("tls-client-key", key, "tls", o.TLS),
		needs("tls-server-name", o.TLSServerName != "", "tls", o.TLS),
		needs("tls-client-cert", cert, "tls-client-key", key),
		needs("tls-client-key", key, "tls-client-cert", cert),
		exclude("tls-no-verify", o.TLSNoVerify, "tls-ca-cert", o.TLSCACert != ""),
		exclude("tls-no-verify", o.TLSNoVerify, "tls-server-name", o.TLSServerName != ""),
	}
}

func needs(one string, oneSet bool, other string, otherSet bool) rule {
	if !oneSet || otherSet {
		return rule{}
	}
	return rule{fmt.Sprintf("-%s needs -%s", one, other), fmt.Sprintf("add -%s, or leave out -%s", other, one)}
}

func exclude(one string, oneSet bool, other string, otherSet bool) rule {
	return broken(oneSet && otherSet, "keep one of the two", "-%s and -%s exclude each other", one, other)
}

// textRules keeps out of HTTP/2 headers and protobuf strings what they cannot
// carry.
func (o *Options) textRules() []rule {
	services := (*serviceNames)(&o.Services).String()
	const ascii = "use letters, digits and signs of ASCII only"
	return []rule{
		broken(!isHeaderText(o.UserAgent), ascii, "-user-agent cannot be sent: %q", o.UserAgent),
		broken(!utf8.ValidString(services), "a protobuf string is UTF-8", "-service is not UTF-8: %q", services),
		broken(o.TLSServerName != "" && !isHost(o.TLSServerName), ascii, "-tls-server-name is no host name: %q", o.TLSServerName),
	}
}

// questionRules are for what is asked and how the answer is given.
func (o *Options) questionRules() []rule {
	const keep = "leave it out for "
	return []rule{
		broken(o.mode != modeReady && o.mode != modeLive && o.mode != modeConnect, keep+string(modeReady), "-mode is ready, live or connect, not %q", o.mode),
		broken(o.output != formatText && o.output != formatJSON, keep+string(formatText), "-o is text or json, not %q", o.output),
		exclude("all", o.all, "service", !slices.Equal(o.Services, []string{""})),
		exclude("watch", o.watch, "all", o.all),
		exclude("watch", o.watch, "wait", o.wait > 0),
		exclude("watch", o.watch, "mode="+string(o.mode), o.mode != modeReady),
		broken(o.watch && len(o.Services) > 1, "run a probe for each", "-watch takes one service, not %d", len(o.Services)),
	}
}
