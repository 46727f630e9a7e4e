package analyzer

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Each text registers the health service. It is sure to reach the server, or not.
func TestRegistrationsUnderAConditionAreNotSure(t *testing.T) {
	t.Parallel()
	rules := []Rule{
		{Code: lazyregexp.New(`\bNewServer\(`), Proves: finding.Constructs("f")},
		{Code: lazyregexp.New(`\bNewHealth\(`), Proves: finding.RegistersHealth},
	}
	const registers = "func register(s) {\n\ts.add(NewHealth())\n}\n"
	for text, isSure := range map[string]bool{
		"func a() {\n\ts := NewServer()\n\ts.add(NewHealth())\n}\n":                             true,
		"func a() {\n\ts := NewServer()\n\tif on {\n\t\ts.add(NewHealth())\n\t}\n}\n":           false,
		"func a() {\n\ts := NewServer()\n\tif !*noHealth {\n\t\ts.add(NewHealth())\n\t}\n}\n":   true,
		"func a() {\n\ts := NewServer()\n\tif !notify {\n\t\ts.add(NewHealth())\n\t}\n}\n":      false,
		"func a() {\n\ts := NewServer()\n\tif s != nil {\n\t\ts.add(NewHealth())\n\t}\n}\n":     true,
		"func a() {\n\tif on {\n\t\ts := NewServer()\n\t\ts.add(NewHealth())\n\t}\n}\n":         true,
		"func a() {\n\ts := NewServer()\n\th := NewHealth()\n\ts.add(h)\n}\n":                   true,
		"func a() {\n\ts := NewServer()\n\th := NewHealth()\n\tif on {\n\t\ts.add(h)\n\t}\n}\n": false,
		"func a() {\n\ts := NewServer()\n\th := NewHealth()\n\th.setStatus(1)\n}\n":             false,
		registers + "func a() {\n\ts := NewServer()\n\tregister(s)\n}\n":                        true,
		registers + "func a() {\n\ts := NewServer()\n\tif on {\n\t\tregister(s)\n\t}\n}\n":      false,
	} {
		read := source.Grammar{source.LineComment("//")}.Read([]byte(text))
		found := MarkConditional(read, Findings(read, rules, nil), nil)
		health, ok := finding.First[finding.Health](found)
		if !ok || health.IsUnsure() == isSure {
			t.Errorf("%s: found %t, sure %t, want %t", text, ok, !health.IsUnsure(), isSure)
		}
	}
}
