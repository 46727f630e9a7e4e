package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/grpc-cnb/health-probe/probe/check/metadata"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// maxUnasked is the greatest number of services in notes, because a server can list any number.
const maxUnasked = 10

// noteUnasked notes services that are not SERVING although the whole server is: many libraries answer SERVING for the
// empty name from the start and for ever, and the app sets the status of its own names alone. An error of Health/List
// is ignored, since the probe has passed already.
func (p *Prober) noteUnasked(conn Conn) {
	o := p.Options
	if !slices.Contains(p.report.Answers, outcome.Answer{Status: outcome.StatusServing}) || o.All || o.Watch {
		return
	}
	o.Budget.ShareCall()
	statuses, err := conn.List()
	if err != nil {
		return
	}
	maps.DeleteFunc(statuses, func(service string, status outcome.Status) bool {
		return status == outcome.StatusServing || service == "" || slices.Contains(o.Services, service)
	})
	unasked := slices.Sorted(maps.Keys(statuses))
	for _, service := range unasked[:min(len(unasked), maxUnasked)] {
		name := outcome.Subject(metadata.Hide(service, o.Headers))
		p.notes = append(p.notes, fmt.Sprintf("%s is %v, which this probe does not ask for: see -service",
			name, statuses[service]))
	}
	if more := len(unasked) - maxUnasked; more > 0 {
		p.notes = append(p.notes, fmt.Sprintf("%d services more are not SERVING", more))
	}
}
