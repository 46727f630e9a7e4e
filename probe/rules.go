package probe

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"
)

// rule is what is wrong with a combination of values, and what to do about it. The zero value means that nothing is
// wrong.
type rule struct {
	problem string
	hint    Hint
}

// broken returns a rule with its problem where it is broken, and the zero value otherwise. It formats the problem only
// where it is broken, since every start checks all rules.
func broken(is bool, hint Hint, format string, args ...any) rule {
	if !is {
		return rule{}
	}
	return rule{fmt.Sprintf(format, args...), hint}
}

// checkRules returns the first broken rule as a *Failure. First come the rules of grpc-health-probe v0.4.56, in its
// order, then the rules for flags that it does not have.
func (o *Options) checkRules() error {
	for _, rules := range [][]rule{
		o.timeoutRules(), o.credentialRules(), o.tlsRules(), o.textRules(),
		o.questionRules(),
	} {
		for _, r := range rules {
			if r.problem != "" {
				return misuse(errors.New("checking flags: "+r.problem), r.hint)
			}
		}
	}
	return nil
}

func (o *Options) timeoutRules() []rule {
	return []rule{
		positive("connect-timeout", o.Budget.connect), positive("rpc-timeout", o.Budget.rpc),
		notNegative("timeout", o.Budget.timeout), notNegative("wait", o.Budget.wait),
	}
}

func positive(name string, d time.Duration) rule {
	return broken(d <= 0, "give it a duration such as 1s", "-%s must be more than zero, not %q", name, d)
}

func notNegative(name string, d time.Duration) rule {
	return broken(d < 0, "give it a duration such as 30s", "-%s must not be negative, as %q is", name, d)
}

func (o *Options) credentialRules() []rule {
	return []rule{
		exclude("alts", o.ALTS, "spiffe", o.SPIFFE),
		exclude("tls", o.TLS, "alts", o.ALTS), exclude("tls", o.TLS, "spiffe", o.SPIFFE),
	}
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
	return broken(true, Hint(fmt.Sprintf("add -%s, or leave out -%s", other, one)), "-%s needs -%s", one, other)
}

func exclude(one string, oneSet bool, other string, otherSet bool) rule {
	return broken(oneSet && otherSet, "keep one of the two", "-%s and -%s exclude each other", one, other)
}

// textRules are for texts that an HTTP/2 header or a protobuf string cannot carry.
func (o *Options) textRules() []rule {
	services := (*serviceNames)(&o.Services).String()
	const ascii Hint = "use letters, digits and signs of ASCII only"
	return []rule{
		broken(!isHeaderText(o.UserAgent), ascii, "-user-agent cannot be sent: %q", o.UserAgent),
		broken(!utf8.ValidString(services), "a protobuf string is UTF-8", "-service is not UTF-8: %q", services),
		broken(o.TLSServerName != "" && !isHost(o.TLSServerName), ascii, "-tls-server-name is no host name: %q",
			o.TLSServerName),
	}
}

// questionRules are for what is asked of the server, and how the outcome is printed.
func (o *Options) questionRules() []rule {
	const keep Hint = "leave it out for "
	return []rule{
		broken(o.mode != modeReady && o.mode != modeLive && o.mode != modeConnect, keep+Hint(modeReady),
			"-mode is ready, live or connect, not %q", o.mode),
		broken(o.output != formatText && o.output != formatJSON, keep+Hint(formatText), "-o is text or json, not %q",
			o.output),
		exclude("all", o.all, "service", !slices.Equal(o.Services, []string{""})),
		exclude("watch", o.watch, "all", o.all),
		exclude("watch", o.watch, "wait", o.Budget.wait > 0),
		exclude("watch", o.watch, "mode="+string(o.mode), o.mode != modeReady),
		broken(o.watch && len(o.Services) > 1, "run a probe for each", "-watch takes one service, not %d",
			len(o.Services)),
	}
}
