package python

import (
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var (
	// grpcFramework is the dictionary of settings of django-socio-grpc, and settingsKey a key in a dictionary.
	grpcFramework = lazyregexp.New(`\bGRPC_FRAMEWORK\b`)
	settingsKey   = lazyregexp.New(`["'](?P<key> +)["']\s*:\s*`)
)

// keyPairs are the files of keys and certificates that django-socio-grpc takes: with any there is TLS.
var keyPairs = analyzer.Credentials{
	Plaintext: lazyregexp.New(`^(?:None|\[\s*\]|\(\s*\))$`),
	TLS:       lazyregexp.New(`^[(\[]\s*[(\[]`),
}

// djangoSettings returns what a source sets for django-socio-grpc: its port, which an argument of the command that
// serves may replace, and TLS (django_socio_grpc/settings.py, management/commands/grpcrunaioserver.py).
func djangoSettings(t *source.Text, names func() *address.Names) []finding.Finding {
	if !t.Matches(grpcFramework) {
		return nil
	}
	var found []finding.Finding
	var stated []analyzer.Stated
	clients := "False"
	for _, m := range t.FindAll(settingsKey, maxOptions) {
		value := t.Trim(source.Span{From: m[1], To: t.Until(m[1], ",")})
		switch key, _ := t.Group(settingsKey, m, "key"); key {
		case "GRPC_CHANNEL_PORT":
			v := names().Value(value)
			v.Host, v.Certainty = address.AllInterfaces, min(v.Certainty, address.Default)
			found = append(found, finding.ListenerAt(v))
		case "PRIVATE_KEY_CERTIFICATE_CHAIN_PAIRS_PATH":
			stated = keyPairs.In(names(), value)
		case "REQUIRE_CLIENT_AUTH":
			clients = t.Slice(value)
		}
	}
	if stated == nil {
		return found
	}
	for i, s := range stated {
		switch {
		case s.Says.Transport != plan.TLS:
		case clients == "True":
			stated[i].Says.Transport = plan.MutualTLS
		case clients != "False":
			stated[i].Says = plan.Security{}
		}
	}
	return append(found, analyzer.StatedSecurity(names(), stated, nil))
}
