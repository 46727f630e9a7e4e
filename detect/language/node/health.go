package node

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	// emptyHealth are the packages whose implementation knows no service until it is told one
	// (packages/grpc-health-check/src/health.ts of grpc-node).
	emptyHealth = source.Exactly(`grpc(?:-js)?-health-check`)
	newHealth   = regexp.MustCompile(`\bnew\s+(?P<class>[\w$.]*Implementation)\(\s*`)
)

// findHealthStatuses reports the statuses that implementations of the health service are made with: an object, or a
// variable of the source that is set to one.
func (p *pass) findHealthStatuses() {
	if p.bundled {
		return
	}
	isEmpty := false
	for _, m := range p.FindAll(newHealth, maxServers) {
		if emptyHealth.MatchString(p.Imports.Resolve(p.Part(newHealth, m, "class")).Module) {
			isEmpty = true
			p.reportStatuses(p.Element(m[1]))
		}
	}
	for i, f := range p.found {
		if h, ok := f.(finding.Health); ok && isEmpty {
			h.NeedsStatus = true
			p.found[i] = h
		}
	}
}

// reportStatuses reports the statuses that an argument holds.
func (p *pass) reportStatuses(argument source.Span) {
	if strings.HasPrefix(p.Slice(argument), "{") {
		p.reportStatusesIn(argument.From + 1)
		return
	}
	name := strings.TrimPrefix(p.Slice(argument), "this.")
	for _, m := range p.FindAll(assignment, -1) {
		if p.Part(assignment, m, "name") != name {
			continue
		}
		if object := p.Element(m[1] - 1); strings.HasPrefix(p.Slice(object), "{") {
			p.reportStatusesIn(object.From + 1)
		}
	}
}

// reportStatusesIn reports the statuses of the properties of an object that opens before an offset.
func (p *pass) reportStatusesIn(open int) {
	for _, property := range p.Properties(open) {
		at := finding.At(p.Text, property.Value)
		code := strconv.Quote(property.Name) + ": " + string(p.Raw[property.Value.From:property.Value.To])
		if f := finding.SetsHealthStatus(at, code); f != nil {
			p.found = append(p.found, f)
		}
	}
}
