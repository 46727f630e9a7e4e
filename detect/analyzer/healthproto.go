package analyzer

import (
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// HealthDefinitions says which health services an app defines: Standard for grpc.health.v1, and Own for the app's own
// services with such a name, which answer no probe.
type HealthDefinitions struct{ Standard, Own bool }

var (
	healthService = lazyregexp.New(`(?m)^\s*service\s+Health(?:Check)?(?:Service)?\s*\{`)
	protoPackage  = lazyregexp.New(`(?m)^\s*package\s+([\w.]+)\s*;`)
)

const standardHealth = "grpc.health.v1"

func healthInProto(text []byte) HealthDefinitions {
	if !source.Uncut(text).Matches(healthService) {
		return HealthDefinitions{}
	}
	m := protoPackage.FindSubmatch(text)
	isStandard := m != nil && string(m[1]) == standardHealth
	return HealthDefinitions{Standard: isStandard, Own: !isStandard}
}

// HealthFolders are the definitions in the files below each folder of an app.
type HealthFolders map[string]HealthDefinitions

// HealthFoldersOf returns the definitions in files.
func HealthFoldersOf[T any](files []File[T]) HealthFolders {
	folders := HealthFolders{}
	for _, f := range files {
		folders.add(f.Path, f.Health)
	}
	return folders
}

func (h HealthFolders) add(file string, defines HealthDefinitions) {
	if defines == (HealthDefinitions{}) {
		return
	}
	for dir := range tree.Ancestors(file) {
		has := h[dir]
		h[dir] = HealthDefinitions{has.Standard || defines.Standard, has.Own || defines.Own}
	}
}

// IsOwn reports whether the health service in a file is the app's own: the innermost folder around the file with
// definitions has none of grpc.health.v1.
func (h HealthFolders) IsOwn(file string) bool {
	defines, ok := h.Innermost(file)
	return ok && !defines.Standard
}

// Innermost returns the definitions in the innermost folder around a file with any, and whether there is such a folder.
func (h HealthFolders) Innermost(file string) (defines HealthDefinitions, ok bool) {
	for dir := range tree.Ancestors(file) {
		if has, ok := h[dir]; ok {
			return has, true
		}
	}
	return HealthDefinitions{}, false
}
