package node

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// emptyHealth are the packages whose implementation knows no service until it is told one
	// (packages/grpc-health-check/src/health.ts of grpc-node).
	emptyHealth = source.Exactly(`grpc(?:-js)?-health-check`)
	newHealth   = lazyregexp.New(`\bnew\s+(?P<class>[\w$.]*Implementation)\(\s*`)
)

var (
	// standardHealth is in sources that know grpc.health.v1 by its package, its .proto, or a package of npm.
	standardHealth = source.NewKeywords(
		"grpc.health.v1", "grpc/health/v1", "grpc-health", "grpc-js-health", "grpc-server-health", "grpc-ts-health",
	)
	// stubPackage is the package of what ts-proto generates, and stubHealth the name of a service for health in it.
	stubPackage = []byte("const protobufPackage =")
	stubHealth  = lazyregexp.New(`\bHEALTH(?:_CHECK)?(?:_SERVICE)?_SERVICE_NAME =|` +
		`\bHealth(?:Check)?(?:Service)?(?:Service|Definition) =`)
)

// healthIn returns the services for health that a source has definitions of.
func healthIn(text []byte) analyzer.HealthDefinitions {
	isStandard := standardHealth.In(text)
	isOwn := !isStandard && bytes.Contains(text, stubPackage) && stubHealth.Match(text)
	return analyzer.HealthDefinitions{Standard: isStandard, Own: isOwn}
}

// findHealthHelpers reports the calls that give a server to what another module has for health checks.
func (p *pass) findHealthHelpers() {
	if p.bundled || len(p.servers) == 0 || !analyzer.NamedForHealth.Match(p.Code) {
		return
	}
	for _, m := range p.FindAll(call, maxSettings) {
		name := strings.TrimSpace(strings.TrimPrefix(p.Part(call, m, "name"), "new "))
		root, _, _ := strings.Cut(name, ".")
		e, ok := p.Imports[root]
		isNamed := analyzer.NamedForHealth.MatchString(name + " " + e.Name + " " + e.Module)
		if !ok || !isNamed || grpcModule.MatchString(e.Module) {
			continue
		}
		each, _ := p.Arguments(m[1])
		for _, argument := range each {
			if analyzer.GetsServer(p.Slice(argument)) {
				site, of := finding.At(p.Text, source.Span{From: m[2], To: m[1]}).Quiet(), p.serverBefore(argument.To)
				function := name[strings.LastIndexByte(name, '.')+1:]
				if function == root && e.Name != "" {
					function = e.Name
				}
				helper := analyzer.HealthHelper{Site: site, Of: of, Module: e.Module, Function: function}
				p.found = append(p.found, helper)
				break
			}
		}
	}
}

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
	for _, value := range p.variables().Values(address.Path(p.Slice(argument)), argument.From) {
		if strings.HasPrefix(p.Slice(value), "{") {
			p.reportStatusesIn(value.From + 1)
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
