package analyzer

import (
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var (
	// certificateFile is a string that names a file with certificates, and certificatePath such a name.
	certificateFile = lazyregexp.New("[\"'`]([\\w./@-]+\\.(?:crt|pem|cer|cert))[\"'`]")
	certificatePath = lazyregexp.New(`(?i)^[^ {}$%\\]+\.(?:pem|crt|cer|cert)$`)
	// authorityName matches the name of a file with certificates of authorities.
	authorityName = lazyregexp.New(
		`(?:^|[^a-z])ca(?:[^a-z]|$)|root|trust|authorit|^ca[a-z]*cert|clients?ca(?:[^a-z]|$)`)
)

// Certificates returns TLS, with the files of certificates that the strings of a text name: the server's, if there is
// one alone, and that of the authorities of clients.
func Certificates(t *source.Text) plan.Security {
	var files []string
	for _, m := range certificateFile.FindAllSubmatch(t.Raw, maxCredentials) {
		files = append(files, string(m[1]))
	}
	says := plan.Security{Transport: plan.TLS}
	says.Certificate, says.Authority = certificates(files)
	return says
}

// certificates returns the one among the names of files with a server's certificate, and the one with authorities, ""
// for none or several. A key or a client's certificate is none of a server.
func certificates(files []string) (own, authority string) {
	servers, authorities := map[string]bool{}, map[string]bool{}
	for _, file := range files {
		switch base := strings.ToLower(path.Base(file)); {
		case !certificatePath.MatchString(file), strings.Contains(base, "key"):
		case authorityName.MatchString(base):
			authorities[file] = true
		case !strings.Contains(base, "client"):
			servers[file] = true
		}
	}
	return onlyKey(servers), onlyKey(authorities)
}

// onlyKey returns the only key of a map, "" if there are several.
func onlyKey(of map[string]bool) string {
	for key := range of {
		if len(of) == 1 {
			return key
		}
	}
	return ""
}
