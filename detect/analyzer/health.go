package analyzer

import (
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// healthOf returns the registration of grpc.health.v1 for a server of a package. One that is not sure goes before
// others, because what makes the service, or implements it, may stand in the same file; one of another server that is
// not sure may be for this one too.
func healthOf(found []finding.Finding, server *finding.Site) (health finding.Health, ok bool) {
	isOwn := false
	for f := range finding.All[finding.Health](found) {
		own := f.Of == nil || f.Of == server
		if own && (!isOwn || f.IsUnsure() && !health.IsUnsure()) || !ok && f.IsUnsure() {
			health, ok, isOwn = f, true, isOwn || own
		}
	}
	return health, ok
}

// asksForNothing is a condition that no option decides: whether there is an object or an error, a package is
// installed, or a file is run as a program.
var asksForNothing = lazyregexp.New(
	`(?i)^!?[$\w.:>()?-]*(?:\s*[!=]==?\s*(?:null|nullptr|nil|undefined)|\s+is(?:\s+not)?\s+(?:None|Nothing|null)|` +
		`\.(?:is(?:Present|Defined|_some|_none|_ok|_err)(?:\(\))?|nil\?))$|` +
		`^let\s+(?:mut\s+)?(?:Some|None|Ok|Err|\w+\s*=)|^let\s+\w+$|^!?(?:err|error|e)$|` +
		`^Objects\.(?:nonNull|isNull)\(\w+\)$|^!?\s*(?:class_exists|defined\?|isset|Code\.ensure_loaded\?)\s*\(|` +
		`^__name__\s*==|^__FILE__\s*==|^require\.main\b|^import\.meta\b`)
