package php

import (
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

var (
	// roadRunnerConfig is the file name of a configuration of RoadRunner.
	roadRunnerConfig = regexp.MustCompile(`^(?:\.?rr(?:[._-][\w.-]+)?|\.?roadrunner)\.ya?ml$`)
	// environmentDefault takes the default of a reference to an environment variable: ${PORT:-9001}.
	environmentDefault = regexp.MustCompile(`\$\{\w+:-([^{}]*)\}`)
)

// analyzeRoadRunner returns the server that the section grpc of a configuration of RoadRunner makes.
func analyzeRoadRunner(text []byte) (*analyzer.Result[extra], error) {
	documents, err := untrusted.ReadYAML(text)
	if err != nil {
		return nil, err
	}
	result := &analyzer.Result[extra]{Extra: extra{configuresRoadRunner: true}}
	if len(documents) == 0 {
		return result, nil
	}
	settings := documents[0]
	section, _ := settings.Get("grpc")
	listen, ok := settings.Get("grpc.listen")
	if !ok || listen.Value == "" {
		return result, nil
	}
	// Only RoadRunner's first version has workers in this section. It registers no health service.
	_, isFirstVersion := settings.Get("grpc.workers")
	where := environmentDefault.ReplaceAllString(listen.Value, "$1")
	server := finding.Server{
		Site: finding.AtLine(section.Line, "grpc: listen: "+where), Framework: roadRunner, InMain: true,
		AutomaticHealth: !isFirstVersion,
	}
	listens := address.Setting(strings.TrimPrefix(where, "tcp://"), listen.Line)
	if where != listen.Value {
		listens.Certainty = min(listens.Certainty, address.Default)
	}
	result.Findings = []finding.Finding{server, finding.ListenerAt(listens)}
	return result, nil
}
