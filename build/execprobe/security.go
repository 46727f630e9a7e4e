package execprobe

import (
	"cmp"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// securityFlags returns the flags for a server's TLS, and what to add to them. A program of this product's own needs
// none to reach a server with TLS. Nothing is known of the certificate before the app runs, so the probe that passes
// does not verify it, and the remark says how it can.
func securityFlags(s plan.Security, isOwn bool) serverFlags {
	if !s.IsTLS() {
		return serverFlags{}
	}
	verify := "-tls-ca-cert=" + cmp.Or(s.Certificate, "FILE") + " -tls-server-name=NAME"
	var f serverFlags
	if isOwn {
		f.remarks = []string{"to verify the server, add -tls " + verify}
	} else {
		f.words = []string{"-tls", "-tls-no-verify"}
		f.remarks = []string{"to verify the server, replace -tls-no-verify with " + verify}
	}
	switch {
	case s.Transport != plan.MutualTLS:
	case isOwn:
		f.remarks = []string{"add -tls " + verify + ", and a client certificate that the server accepts: " +
			"-tls-client-cert=FILE -tls-client-key=FILE"}
	default:
		f.words = append(f.words, "-tls-client-cert=/path/to/client.crt", "-tls-client-key=/path/to/client.key")
		f.remarks = append(f.remarks, "set a client certificate that the server accepts")
	}
	return f
}
