package execprobe

import "github.com/grpc-cnb/health-probe/internal/plan"

// securityFlags returns the flags for a server's TLS, and remarks with flags to add. This product's own programs need
// no flags to reach a server with TLS. The certificate is unknown before the app runs, so the flags skip verification,
// and the remark has the flags for verification.
func securityFlags(s plan.Security, isOwn bool) serverFlags {
	const verify = "-tls-ca-cert=FILE -tls-server-name=NAME"
	switch {
	case !s.IsTLS():
		return serverFlags{}
	case isOwn:
		return serverFlags{remarks: []string{"to verify the server, add -tls " + verify}}
	}
	return serverFlags{
		words:   []string{"-tls", "-tls-no-verify"},
		remarks: []string{"to verify the server, replace -tls-no-verify with " + verify},
	}
}
