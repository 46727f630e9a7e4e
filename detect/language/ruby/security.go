package ruby

import (
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var transports = []analyzer.Rule{
	{Code: lazyregexp.New(`:this_port_is_insecure\b`), Proves: finding.Insecure},
	{Code: lazyregexp.New(`\bServerCredentials\s*\.\s*new\s*\(`), Proves: finding.UsesTLS},
	{Code: lazyregexp.New(`\w\s*\.\s*use_ssl[ \t]*=[ \t]*true\b`), Proves: finding.UsesTLS},
	{Code: lazyregexp.New(`\w\s*\.\s*use_ssl[ \t]*=[ \t]*(?P<at>[^\s]+)`), Proves: grufSetting},
	{Code: lazyregexp.New(`\brpc_tls_cert[ \t]*=`), Proves: finding.UsesOther},
}

// grufSetting is the finding of a value of use_ssl other than true.
func grufSetting(at *finding.Site, code string) finding.Finding {
	switch code {
	case "true":
		return nil
	case "false", "nil":
		return finding.Insecure(at, code)
	}
	return finding.UsesOther(at, code)
}
