package execprobe

import "github.com/grpc-cnb/health-probe/internal/plan"

// securityFlags returns the flags for a server's TLS, and what to add to them. A program of this product's own needs
// none to reach a server with TLS. Nothing is known of the certificate before the app runs, so the probe that passes
// does not verify it, and the remark says how it can.
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
