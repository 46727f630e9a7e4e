package analyzer

import (
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// healthOf returns the registration of grpc.health.v1 for a server of a package. An unsure registration goes before a
// sure one, because the construction or the implementation of the service may stand in the same file. An unsure
// registration of another server may be for this server too.
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

// asksForNothing matches a condition that no option decides: the presence of an object, an error or an installed
// package, or a file that runs as a program.
var asksForNothing = lazyregexp.New(
	`(?i)^!?[$\w.:>()?-]*(?:\s*[!=]==?\s*(?:null|nullptr|nil|undefined)|\s+is(?:\s+not)?\s+(?:None|Nothing|null)|` +
		`\.(?:is(?:Present|Defined|_some|_none|_ok|_err)(?:\(\))?|nil\?))$|` +
		`^let\s+(?:mut\s+)?(?:Some|None|Ok|Err|\w+\s*=)|^let\s+\w+$|^!?(?:err|error|e)$|` +
		`^Objects\.(?:nonNull|isNull)\(\w+\)$|^!?\s*(?:class_exists|defined\?|isset|Code\.ensure_loaded\?)\s*\(|` +
		`^__name__\s*==|^__FILE__\s*==|^require\.main\b|^import\.meta\b`)
