package execprobe

import (
	"cmp"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Certificate is a server's certificate in the image. The zero value is one that is not known.
type Certificate struct {
	// File is its path, and Name a name that it is valid for.
	File, Name string
}

// securityFlags returns the flags for a server's TLS. A certificate that is known verifies the server that has it. Of
// any other nothing is known before the app runs, so the probe that passes does not verify it, and the remark says how
// it can.
func securityFlags(s plan.Security, c Certificate) serverFlags {
	if !s.IsTLS() {
		return serverFlags{}
	}
	f := serverFlags{words: []string{"-tls"}}
	if c.Name != "" {
		f.words = append(f.words, "-tls-ca-cert="+c.File, "-tls-server-name="+c.Name)
	} else {
		f.words = append(f.words, "-tls-no-verify")
		file := cmp.Or(s.Certificate, "FILE")
		f.remarks = append(f.remarks,
			"to verify the server, replace -tls-no-verify with -tls-ca-cert="+file+" -tls-server-name=NAME")
	}
	if s.Transport == plan.MutualTLS {
		f.words = append(f.words, "-tls-client-cert=/path/to/client.crt", "-tls-client-key=/path/to/client.key")
		f.remarks = append(f.remarks, "set a client certificate that the server accepts")
	}
	return f
}
