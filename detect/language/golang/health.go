package golang

import (
	"bytes"
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// registersOtherHealth reports whether generated code is of a service Health in a package other than grpc.health.v1.
// Only code under a name with "health" counts as code of a health service: see symbolRules.
func registersOtherHealth(f *tree.File) bool {
	if !strings.Contains(strings.ToLower(f.Path), "health") {
		return false
	}
	text, err := f.Text()
	return err == nil && bytes.Contains(text, []byte("func RegisterHealthServer(")) &&
		!bytes.Contains(text, []byte(`"grpc.health.v1.Health"`))
}

// leaveOutOtherHealth turns registrations of a non-standard service Health into registrations of any service: a service
// with generated code in the app, or with a definition in a .proto of the app.
func leaveOutOtherHealth(files []analyzer.File[Extra], lookup func(importPath string) (dir string, ok bool)) {
	others, defined := map[string]bool{}, analyzer.HealthFoldersOf(files)
	for _, f := range files {
		others[path.Dir(f.Path)] = others[path.Dir(f.Path)] || f.Extra.OtherHealth
	}
	for _, f := range files {
		other := map[plan.Place]bool{}
		for i, found := range f.Findings {
			h, _ := found.(ofPackage)
			dir, isOwn := lookup(h.pkg)
			if h.pkg == "" {
				dir, isOwn = path.Dir(f.Path), true
			}
			if h.kind == healthRegistration && isOwn && (others[dir] || defined.IsOwn(dir+"/any")) {
				h.kind, other[h.Place] = registration, true
				f.Findings[i] = h
			}
		}
		for i, found := range f.Findings {
			if health, ok := found.(finding.Health); ok && other[health.Place] {
				f.Findings[i] = ofPackage{Site: health.Site} // is left out
			}
		}
	}
}
