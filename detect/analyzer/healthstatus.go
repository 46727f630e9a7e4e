package analyzer

import (
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// statusOfServer is where a source sets the status of the whole server, by a call or in a map.
	statusOfServer = lazyregexp.New(`(?:(?i:set|status)\w*\(\s*(?:""|''|[\w.]*ALL_SERVICES)\s*,|` +
		`[{,]\s*(?:""|'')\s*(?::|=>))(?P<status>[^(),{}]{1,200})`)
	unknownStatus = lazyregexp.New(`(?i)(?:\b|_)UNKNOWN\b`)
	notServing    = lazyregexp.New(`(?i)NOT_?SERVING`)
)

// LeavesStatusUnknown reports whether a source sets the status of the whole server to UNKNOWN, with which a probe
// fails, and nowhere to another one that lets it pass.
func LeavesStatusUnknown(text []byte) bool {
	isUnknown := false
	for _, m := range statusOfServer.FindAllSubmatch(text, maxStatuses) {
		switch {
		case unknownStatus.Match(m[1]):
			isUnknown = true
		case !notServing.Match(m[1]):
			return false
		}
	}
	return isUnknown
}

// maxStatuses is how many statuses of a text are looked at.
const maxStatuses = 64
