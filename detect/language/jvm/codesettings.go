package jvm

import (
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// setsSettings is a call that a program gives settings by before its framework reads them: System.setProperty,
// SpringApplicationBuilder.properties, SpringApplication.setDefaultProperties(Map.of(...)) and mapOf of Kotlin.
var setsSettings = regexp.MustCompile(
	`\b(?:setProperty|put|putIfAbsent|of|entry|properties|addProperty|mapOf|Map)\s*\((?P<arguments>[^()]*)\)`)

// codeSettings returns the settings whose keys a source sets: that they are set, and to nothing that is known.
func (n *names) codeSettings() []fileSettings {
	var s fileSettings
	for _, m := range n.text.FindAll(setsSettings, maxMembers) {
		arguments := source.Span{From: m[2], To: m[3]}
		for _, l := range anyLiteral.FindAllIndex(n.text.Code[arguments.From:arguments.To], maxMembers) {
			literal := string(n.text.Raw[arguments.From+l[0] : arguments.From+l[1]])
			key, _, _ := strings.Cut(strings.Trim(literal, `"`), "=")
			if strings.Contains(key, ".") {
				s.always.set(key, literal, plan.Place{})
			}
		}
	}
	if len(s.always.values) == 0 {
		return nil
	}
	return []fileSettings{s}
}
