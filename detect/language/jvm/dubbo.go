package jvm

import (
	"bytes"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var (
	xmlGrammar = source.Grammar{source.BlockComment("<!--", "-->", false)}
	// tripleElement is the protocol Triple, which is gRPC, and portAttribute its port.
	tripleElement = lazyregexp.New(`<dubbo:protocol\b[^>]*\bname="tri"[^>]*`)
	portAttribute = lazyregexp.New(`\bport="([^"]*)"`)
	beanRules     = []analyzer.Rule{{Code: lazyregexp.New(`(?P<at><dubbo:service\b)`), Proves: exportsToDubbo}}
)

// The keys of Dubbo's settings that decide about a server.
const (
	dubboProtocol     = "dubbo.protocol.name"
	dubboPort         = "dubbo.protocol.port"
	dubboHealth       = "dubbo.tri.builtin.service.init"
	dubboProtocolKeys = "dubbo.protocol" // what the keys of one protocol and of several begin with
)

// analyzeDubboBeans analyzes a file of Spring beans. The result is nil if it has nothing of Dubbo.
func analyzeDubboBeans(file string, text []byte) *analyzer.Result[extra] {
	if !bytes.Contains(text, []byte("<dubbo:")) {
		return nil
	}
	t := xmlGrammar.Read(text)
	s := fileSettings{name: file}
	for _, m := range t.FindAll(tripleElement, 1) {
		at := plan.Place{Path: file, Line: t.Line(m[0])}
		s.always.set(dubboProtocol, "tri", at)
		if port := portAttribute.FindSubmatch(t.Code[m[0]:m[1]]); port != nil {
			s.always.set(dubboPort, string(port[1]), at)
		}
	}
	result := s.result()
	result.Findings = analyzer.Findings(t, beanRules, nil)
	return result
}

// servesTriple reports whether the settings give Dubbo the protocol Triple.
func (s *settings) servesTriple() bool {
	for key, value := range s.values {
		if strings.HasPrefix(key, dubboProtocolKeys) && strings.HasSuffix(key, ".name") && value.text == "tri" {
			return true
		}
	}
	return false
}
