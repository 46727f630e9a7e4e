package node

import (
	"bytes"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var newExpression = lazyregexp.New(`\bnew\s+(?P<name>[\w$]+(?:\s*\.\s*[\w$]+)*)\(`)

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
		if port, ok := p.own(each[0].From+1, "serverPort"); ok {
			p.found = append(p.found, p.listener(port))
		}
	}
}
