package analyzer

import (
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// HealthDefinitions says which services for health an app has definitions of: grpc.health.v1, and services of the app's
// own with such a name, which answer no probe.
type HealthDefinitions struct{ Standard, Own bool }

var (
	healthService = lazyregexp.New(`(?m)^\s*service\s+Health(?:Check)?(?:Service)?\s*\{`)
	protoPackage  = lazyregexp.New(`(?m)^\s*package\s+([\w.]+)\s*;`)
)

// standardHealth is the package of the standard health.proto.
const standardHealth = "grpc.health.v1"

// healthInProto returns what a .proto file defines.
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

// add adds what a file defines.
func (h HealthFolders) add(file string, defines HealthDefinitions) {
	if defines == (HealthDefinitions{}) {
		return
	}
	for dir := range tree.Ancestors(file) {
		has := h[dir]
		h[dir] = HealthDefinitions{has.Standard || defines.Standard, has.Own || defines.Own}
	}
}

// IsOwn reports whether what a file calls a health service is one of the app's own: the innermost folder around it that
// has definitions has none of grpc.health.v1.
func (h HealthFolders) IsOwn(file string) bool {
	defines, ok := h.Innermost(file)
	return ok && !defines.Standard
}

// Innermost returns the definitions in the innermost folder around a file that has any.
func (h HealthFolders) Innermost(file string) (defines HealthDefinitions, ok bool) {
	for dir := range tree.Ancestors(file) {
		if has, ok := h[dir]; ok {
			return has, true
		}
	}
	return HealthDefinitions{}, false
}
