package target

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// maxEmbedded is how many patterns are looked at, each of which is compared with each server.
const maxEmbedded = 256

// embedded is a pattern of files that a program carries as its data, and the languages that the program may be in.
type embedded struct {
	pattern string
	by      []string
}

// SetAside marks the servers that a program in another language carries as its data: that program is the app, and may
// start them.
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

// holding returns the embedded file or folder that a file lies in, or "".
func (e embedded) holding(file string) string {
	if tree.IsWithin(file, e.pattern) {
		return e.pattern
	}
	if ok, err := path.Match(e.pattern, file); ok && err == nil {
		return file
	}
	return ""
}
