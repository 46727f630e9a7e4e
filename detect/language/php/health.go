package php

import (
	"bytes"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// namedHealth is the registration of a service by the name of its class, perhaps a class of the app.
type namedHealth struct{ *finding.Site }

func registersNamedHealth(at *finding.Site, _ string) finding.Finding { return namedHealth{at} }

var (
	// healthStub is a generated interface or class of a service for health. standardStub is in stubs of grpc.health.v1.
	healthStub   = lazyregexp.New(`\b(?:interface\s+HealthInterface|class\s+HealthStub)\b`)
	standardStub = []byte("grpc.health.v1.Health")
	// healthBase is the base or the interface of a service for health, and standardBase is the base for grpc.health.v1.
	healthBase = lazyregexp.New(
		`\b(?:extends|implements)\s+(?:[\w\\]+\s*,\s*)*(?P<base>\\?(?:\w+\\)*Health(?:Stub|Interface))\b`)
	standardBase = source.Exactly(`Grpc\\Health\\V1\\\w+`)
	isQualified  = lazyregexp.New(`\\`)
	mayBeHealth  = source.NewKeywords("HealthStub", "HealthInterface")
)

// healthInStub returns the services for health in generated code.
func healthInStub(text []byte) analyzer.HealthDefinitions {
	if !healthStub.Match(text) {
		return analyzer.HealthDefinitions{}
	}
	isStandard := bytes.Contains(text, standardStub)
	return analyzer.HealthDefinitions{Standard: isStandard, Own: !isStandard}
}

// healthIn returns the services for health that the classes of a source implement, if the source has their full names.
func healthIn(t *source.Text, classes classNames) analyzer.HealthDefinitions {
	var all analyzer.HealthDefinitions
	for _, m := range t.FindAll(healthBase, maxFindings) {
		base, _ := t.Group(healthBase, m, "base")
		switch full := classes.resolve(base); {
		case standardBase.MatchString(full):
			all.Standard = true
		case isQualified.MatchString(full):
			all.Own = true
		}
	}
	return all
}
