package target

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// maxEmbedded bounds the patterns: each is compared with each server.
const maxEmbedded = 256

// embedded is a pattern of files that a program carries as data, and the languages the program may be in.
type embedded struct {
	pattern string
	by      []string
}

// SetAside marks the servers that a program in another language carries as data: the program is the app, and may start
// the servers.
func (fs *Files) SetAside(servers []plan.Server) {
	for i := range servers {
		s := &servers[i]
		for _, e := range fs.embedded {
			if s.Aside == "" && !slices.Contains(e.by, s.Language) {
				s.Aside = e.holding(s.Evidence.Path)
			}
		}
	}
}

// holding returns the embedded file or folder around a file, or "".
func (e embedded) holding(file string) string {
	if tree.IsWithin(file, e.pattern) {
		return e.pattern
	}
	if ok, err := path.Match(e.pattern, file); ok && err == nil {
		return file
	}
	return ""
}
