package node

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	newExpression      = regexp.MustCompile(`\bnew\s+(?P<name>[\w$]+(?:\s*\.\s*[\w$]+)*)\(`)
	serverPortProperty = regexp.MustCompile(`\bserverPort\s*:\s*`)
)

// findDapr reports new DaprServer({ communicationProtocol: CommunicationProtocolEnum.GRPC }). Without this option it
// serves HTTP.
func (p *pass) findDapr() {
	if !bytes.Contains(p.Code, []byte("DaprServer")) {
		return
	}
	for _, m := range p.FindAll(newExpression, -1) {
		if !strings.HasSuffix(p.Part(newExpression, m, "name"), "DaprServer") {
			continue
		}
		each, all := p.Arguments(m[1])
		if !strings.Contains(p.Slice(all), "CommunicationProtocolEnum.GRPC") {
			continue
		}
		p.report(finding.Constructs(daprJS), source.Span{From: m[0], To: m[1]})
		if port, ok := p.Property(each[0], serverPortProperty); ok {
			p.found = append(p.found, p.listener(port))
		}
	}
}
