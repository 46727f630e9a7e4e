package ruby

import (
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// serverCredentials are what add_http2_port takes (src/ruby/ext/grpc/rb_server_credentials.c of grpc): the symbol for
// no TLS, or GRPC::Core::ServerCredentials.new(root certificates, pairs, whether clients have to show a certificate).
var serverCredentials = analyzer.Credentials{
	Plaintext: lazyregexp.New(`:this_port_is_insecure\b`),
	TLS:       lazyregexp.New(`\bServerCredentials\s*\.\s*new\s*\(`),
	Asks: func(t *source.Text, arguments int) bool {
		asks, _ := t.Argument(arguments, 2)
		return t.Slice(asks) == "true"
	},
}

var (
	// addPort is a call with its second argument, the credentials, which may lack brackets.
	addPort = lazyregexp.New(`\.[ \t]*add_http2_port[ \t]*(?:(?P<open>\()|[ \t](?P<bare>[^\n]*))`)
	// grufTLS is the setting of gruf for TLS (lib/gruf/configuration.rb), which is off by default.
	grufTLS = lazyregexp.New(`\w\s*\.\s*use_ssl[ \t]*=[ \t]*(?P<value>[^\n]*)`)
	// anyCableTLS is the setting of AnyCable for TLS (lib/anycable/grpc/config.rb), which anycable.yml, the environment
	// and the command line may have.
	anyCableTLS = lazyregexp.New(`\brpc_tls_cert[ \t]*=`)
	ofGruf      = lazyregexp.New(`\bGruf\b`)
)

// security returns what a source says of the security of its servers.
func security(names *address.Names) []finding.Finding {
	var stated []analyzer.Stated
	for _, m := range names.FindAll(addPort, address.MaxListeners) {
		from := max(m[3], m[4])
		if each, _ := names.Arguments(from); len(each) > 1 {
			stated = append(stated, serverCredentials.In(names, each[1])...)
		} else {
			stated = append(stated, analyzer.Stated{At: m[0]}) // an array has both arguments
		}
	}
	if names.Matches(ofGruf) {
		for _, m := range names.FindAll(grufTLS, address.MaxListeners) {
			says := grufSecurity(names.Text, source.Span{From: m[2], To: m[3]})
			stated = append(stated, optional(names, analyzer.Stated{At: m[0], Says: says})...)
		}
	}
	for _, m := range names.FindAll(anyCableTLS, 1) {
		says := analyzer.Stated{At: m[0], Says: analyzer.Certificates(names.Text)}
		stated = append(stated, optional(names, says)...)
	}
	if stated == nil {
		return nil
	}
	return []finding.Finding{analyzer.StatedSecurity(names, stated, nil)}
}

// configures is the call that gives a block the settings of a framework.
var configures = lazyregexp.New(`\b(?:Gruf|AnyCable)\.configure\b`)

// optional returns what a setting in such a block says, which is plaintext by default, with the default if the setting
// is set on a condition.
func optional(names *address.Names, setting analyzer.Stated) []analyzer.Stated {
	for _, m := range names.FindAll(configures, 1) {
		if m[0] < setting.At && len(names.Conditions(setting.At, m[0])) > 0 {
			byDefault := analyzer.Stated{At: m[0], Says: plan.Security{Transport: plan.Plaintext}}
			return []analyzer.Stated{setting, byDefault}
		}
	}
	return []analyzer.Stated{setting}
}

// grufSecurity returns what the value of the setting use_ssl says.
func grufSecurity(t *source.Text, value source.Span) plan.Security {
	value = t.Trim(value)
	switch t.Slice(value) {
	case "true":
		return analyzer.Certificates(t)
	case "false", "nil":
		return plan.Security{Transport: plan.Plaintext}
	}
	return plan.Security{Setting: settingOf(t.Raw[value.From:value.To])}
}

// anyCableVariables are the environment variables that replace AnyCable's settings (its gem anyway_config reads them).
const (
	anyCableAddress     = "ANYCABLE_RPC_HOST"
	anyCableCertificate = "ANYCABLE_RPC_TLS_CERT"
)

// anyCableSecurity returns the security of a server of AnyCable, at the site of its evidence, of which nothing else is
// said.
func anyCableSecurity(at *finding.Site) finding.Security {
	return finding.Security{
		Site: at.Quiet(), Says: plan.Security{Transport: plan.Plaintext, Setting: "$" + anyCableCertificate},
	}
}

// settingOf returns the environment variable that code asks, or the code.
func settingOf(code []byte) string {
	if variables := address.Variables(code); len(variables) > 0 {
		return "$" + variables[0]
	}
	return source.Excerpt(code)
}
