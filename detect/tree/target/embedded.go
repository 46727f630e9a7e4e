package target

import (
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// maxEmbedded is how many patterns are looked at, each of which is compared with each server.
const maxEmbedded = 256

// embedLine is a line with patterns of files that a Go program carries as its data (package embed).
var embedLine = lazyregexp.New(`(?m)^[ \t]*//go:embed[ \t]+([^\r\n]+)`)

// isGo reports whether a file is a Go source that is no test.
func isGo(file string) bool {
	return strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go")
}

// readEmbedded adds the patterns of a Go source.
func (fs *Files) readEmbedded(file string, text []byte) {
	for _, m := range embedLine.FindAllSubmatch(text, maxEmbedded) {
		for pattern := range strings.FieldsSeq(string(m[1])) {
			pattern = strings.TrimPrefix(strings.Trim(pattern, "\"`"), "all:")
			if len(fs.embedded) < maxEmbedded {
				fs.embedded = append(fs.embedded, path.Join(path.Dir(file), pattern))
			}
		}
	}
}

// SetAside marks the servers in other languages that a Go program carries as its data: that program is the app, and may
// start them.
func (fs *Files) SetAside(servers []plan.Server) {
	for i := range servers {
		if s := &servers[i]; s.Language != "go" && s.Aside == "" {
			s.Aside = fs.embeds(s.Evidence.Path)
		}
	}
}

// embeds returns the embedded file or folder that a file lies in, or "".
func (fs *Files) embeds(file string) string {
	for _, pattern := range fs.embedded {
		if tree.IsWithin(file, pattern) {
			return pattern
		}
		if ok, err := path.Match(pattern, file); ok && err == nil {
			return file
		}
	}
	return ""
}
