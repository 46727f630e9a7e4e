package jvm

import (
	"strings"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// setsSettings is a call that a program gives settings by before its framework reads them: System.setProperty,
// SpringApplicationBuilder.properties, SpringApplication.setDefaultProperties(Map.of(...)) and mapOf of Kotlin.
var setsSettings = lazyregexp.New(
	`\b(?:setProperty|put|putIfAbsent|of|entry|properties|addProperty|mapOf|Map)\s*\(`)

// firstLiteral is a string that an argument begins with: the key of a pair too, such as "a" to 1.
var firstLiteral = lazyregexp.New(`^"[ ]*"`)

// codeSettings returns the settings whose keys a source sets: that they are set, and to nothing that is known.
func (n *names) codeSettings() []fileSettings {
	var s fileSettings
	for _, m := range n.text.FindAll(setsSettings, maxMembers) {
		arguments, _ := n.text.Arguments(m[1])
		for _, of := range arguments[:min(len(arguments), maxMembers)] {
			l := firstLiteral.FindIndex(n.text.Code[of.From:of.To])
			if l == nil {
				continue
			}
			literal := string(n.text.Raw[of.From : of.From+l[1]])
			key, _, _ := strings.Cut(strings.Trim(literal, `"`), "=")
			if strings.Contains(key, ".") {
				s.always.set(key, literal, plan.Place{})
			}
		}
	}
	n.textSettings(&s.always)
	if len(s.always.values) == 0 {
		return nil
	}
	return []fileSettings{s}
}
