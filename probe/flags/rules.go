package flags

import (
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/metadata"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// rule is the problem of a combination of values, and the remedy. The zero value means no problem.
type rule struct {
	problem string
	hint    outcome.Hint
}

// broken returns a rule with the problem if the argument is true, and the zero value otherwise. Only a broken rule
// formats the problem, since every start checks all rules.
func broken(is bool, hint outcome.Hint, format string, args ...any) rule {
	if !is {
		return rule{}
	}
	return rule{fmt.Sprintf(format, args...), hint}
}

// checkRules returns the first broken rule as a *[outcome.Failure]. First come the rules of grpc-health-probe v0.4.56,
// in the order there, then the rules for new flags.
func (v *values) checkRules() error {
	for _, rules := range [][]rule{
		v.timeoutRules(), v.credentialRules(), v.tlsRules(), v.textRules(),
		v.questionRules(),
	} {
		for _, r := range rules {
			if r.problem != "" {
				return outcome.Misuse(errors.New("checking flags: "+r.problem), r.hint)
			}
		}
	}
	return nil
}

func (v *values) timeoutRules() []rule {
	return []rule{
		positive("connect-timeout", v.Budget.ConnectTimeout), positive("rpc-timeout", v.Budget.RPCTimeout),
		notNegative("timeout", v.Budget.Timeout), notNegative("wait", v.Budget.Wait),
	}
}

func positive(name string, d time.Duration) rule {
	return broken(d <= 0, "give it a duration such as 1s", "-%s must be more than zero, not %q", name, d)
}

func notNegative(name string, d time.Duration) rule {
	return broken(d < 0, "give it a duration such as 30s", "-%s must not be negative, as %q is", name, d)
}

func (v *values) credentialRules() []rule {
	return []rule{
		exclude("alts", v.ALTS, "spiffe", v.SPIFFE),
		exclude("tls", v.TLS, "alts", v.ALTS), exclude("tls", v.TLS, "spiffe", v.SPIFFE),
	}
}

func (v *values) tlsRules() []rule {
	cert, key := v.TLSClientCert != "", v.TLSClientKey != ""
	return []rule{
		needs("tls-no-verify", v.TLSNoVerify, "tls", v.TLS),
		needs("tls-ca-cert", v.TLSCACert != "", "tls", v.TLS),
		needs("tls-client-cert", cert, "tls", v.TLS),
		needs("tls-client-key", key, "tls", v.TLS),
		needs("tls-server-name", v.TLSServerName != "", "tls", v.TLS),
		needs("tls-client-cert", cert, "tls-client-key", key),
		needs("tls-client-key", key, "tls-client-cert", cert),
		exclude("tls-no-verify", v.TLSNoVerify, "tls-ca-cert", v.TLSCACert != ""),
		exclude("tls-no-verify", v.TLSNoVerify, "tls-server-name", v.TLSServerName != ""),
	}
}

func needs(one string, oneSet bool, other string, otherSet bool) rule {
	if !oneSet || otherSet {
		return rule{}
	}
	return broken(true, outcome.Hint(fmt.Sprintf("add -%s, or leave out -%s", other, one)), "-%s needs -%s", one, other)
}

func exclude(one string, oneSet bool, other string, otherSet bool) rule {
	return broken(oneSet && otherSet, "keep one of the two", "-%s and -%s exclude each other", one, other)
}

// textRules are for texts that an HTTP/2 header or a protobuf string cannot carry.
func (v *values) textRules() []rule {
	services := (*serviceNames)(&v.Services).String()
	const ascii outcome.Hint = "use only ASCII letters, digits and signs"
	return []rule{
		broken(!metadata.IsFieldValue(v.UserAgent), "leave out line breaks and other control characters",
			"-user-agent cannot be sent: %q", v.UserAgent),
		broken(!utf8.ValidString(services), "write it in UTF-8, as protobuf requires", "-service is not UTF-8: %q",
			services),
		broken(v.TLSServerName != "" && address.HostOf(v.TLSServerName) == "", ascii,
			"-tls-server-name is not a valid host name: %q", v.TLSServerName),
		broken(v.SetAuthority != "" && address.HostOf(v.SetAuthority) == "", ascii,
			"-authority is neither a host nor host:port: %q", v.SetAuthority),
	}
}

// questionRules are for the questions to the server, and the format of the outcome.
func (v *values) questionRules() []rule {
	const keep outcome.Hint = "leave it out for "
	return []rule{
		broken(v.Mode != options.ModeReady && v.Mode != options.ModeLive && v.Mode != options.ModeConnect,
			keep+outcome.Hint(options.ModeReady), "-mode is ready, live or connect, not %q", v.Mode),
		broken(v.format != Text && v.format != JSON,
			keep+outcome.Hint(Text), "-o is text or json, not %q", v.format),
		exclude("all", v.All, "service", !slices.Equal(v.Services, []string{""})),
		exclude("watch", v.Watch, "all", v.All),
		exclude("watch", v.Watch, "wait", v.Budget.Wait > 0),
		exclude("watch", v.Watch, "mode="+string(v.Mode), v.Mode != options.ModeReady),
		broken(v.Watch && len(v.Services) > 1, "run a probe for each", "-watch takes one service, not %d",
			len(v.Services)),
	}
}

// validate checks the rules, and parses values with a format; lookUp knows the names of ports. The error is a
// *[outcome.Failure].
func (v *values) validate(lookUp address.PortLookup) error {
	if v.Addr == "" && !v.Search.Enabled {
		return outcome.Misuse(errors.New("no server address"),
			"set -addr=host:port, "+variablePrefix+"ADDR or PORT")
	}
	return v.validateWith(lookUp)
}

// validateDefaults is validate for values that a later source may complete, so an address may be missing. The name of a
// port is looked up in the image of the probe.
func (v *values) validateDefaults() error { return v.validateWith(address.AnyPort) }

func (v *values) validateWith(lookUp address.PortLookup) (err error) {
	if len(v.Services) == 0 {
		v.Services = []string{""}
	}
	if err := v.checkRules(); err != nil {
		return err
	}
	if v.SPIFFE {
		v.Budget.FetchTimeout = v.Budget.RPCTimeout // as in grpc-health-probe
	}
	if v.FixedHeaders, err = metadata.Parse(v.headers); err != nil {
		return err
	}
	if v.MountedHeaders, err = metadata.ParseFiles(v.headerFiles); err != nil {
		return err
	}
	if v.Addr != "" {
		v.Address, err = address.Parse(v.Addr, lookUp)
	}
	return err
}
