package node

import (
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// midwaySetting is what the settings of Midway's server say, if Midway serves the project.
type midwaySetting struct {
	*finding.Site
	says finding.Finding
}

// midwaySettings are the settings of Midway's server: grpcServer: { services: [...], url: '0.0.0.0:6565' }.
var midwaySettings = lazyregexp.New(`\bgrpcServer\s*[:=]\s*\{`)

// findMidway reports the address and the security in the settings of Midway's server, which serves plaintext without
// credentials (packages/grpc/src/provider/framework.ts).
func (p *pass) findMidway() {
	for _, m := range p.FindAll(midwaySettings, address.MaxListeners) {
		before := len(p.found)
		if credentials, ok := p.own(m[1], "credentials"); ok {
			p.reportCredentials(nil, credentials)
		}
		if url, ok := p.own(m[1], "url"); ok {
			p.found = append(p.found, p.listener(url))
		} else {
			p.found = append(p.found, analyzer.DefaultListener(frameworks, midway, p.Line(m[0]))...)
		}
		for i, f := range p.found[before:] {
			at := finding.AtLine(finding.Where(f).Line, "")
			p.found[before+i] = midwaySetting{at, f}
		}
	}
}

// own returns the value of a property that the object literal has itself which opens before an offset.
func (p *pass) own(open int, name string) (source.Span, bool) {
	for _, property := range p.Properties(open) {
		if property.Name == name {
			return property.Value, true
		}
	}
	return source.Span{}, false
}
