package php

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

var (
	roadRunnerConfig = lazyregexp.New(`^(?:\.?rr(?:[._-][\w.-]+)?|\.?roadrunner)\.ya?ml$`)
	// isVariant is the file name of a configuration for development or tests.
	isVariant = lazyregexp.New(
		`(?i)[._-](?:dev|develop|development|tests?|testing|local|debug|ci|example|sample)[._-]`)
	// environmentValue is a reference to an environment variable, with or without a default: ${PORT:-9001}.
	environmentValue = lazyregexp.New(`\$\{(?P<variable>\w+)(?::?-(?P<default>[^{}]*))?\}`)
)

// analyzeRoadRunner returns the server of the section grpc in a configuration of RoadRunner.
func analyzeRoadRunner(text []byte) (*analyzer.Result[extra], error) {
	documents, err := untrusted.ReadYAML(text)
	if err != nil {
		return nil, err
	}
	if len(documents) == 0 {
		return &analyzer.Result[extra]{Extra: extra{configuresRoadRunner: true}}, nil
	}
	settings := documents[0]
	_, includesOthers := settings.Get("include[0]")
	result := &analyzer.Result[extra]{Extra: extra{configuresRoadRunner: !includesOthers}}
	section, _ := settings.Get("grpc")
	listen, ok := settings.Get("grpc.listen")
	if !ok || listen.Value == "" {
		return result, nil
	}
	// Only RoadRunner 1, which has no health service, has workers in this section, and no version.
	_, hasWorkers := settings.Get("grpc.workers")
	_, hasVersion := settings.Get("version")
	isFirstVersion := hasWorkers && !hasVersion
	where := environmentValue.ReplaceAllString(listen.Value, "$default")
	server := finding.Server{
		Site: finding.AtLine(section.Line, "grpc: listen: "+where), Framework: roadRunner, InMain: true,
		AutomaticHealth: !isFirstVersion,
	}
	listener := finding.Listens(roadRunnerAddress(listen, where), "")
	result.Findings = append([]finding.Finding{server, listener}, roadRunnerSecurity(settings)...)
	return result, nil
}

// roadRunnerAddress returns the address of a setting. where is its value with defaults in place of references.
func roadRunnerAddress(listen untrusted.Setting, where string) address.Address {
	a := address.Setting(strings.TrimPrefix(strings.Replace(where, "unix://", "unix:", 1), "tcp://"), listen.Line)
	references := environmentValue.FindAllStringSubmatch(listen.Value, maxFindings)
	if len(references) == 0 {
		return a
	}
	if last := references[len(references)-1]; strings.HasSuffix(listen.Value, last[0]) {
		return address.ByDefault(a, last[1])
	}
	return address.ByDefault(a, "")
}

// roadRunnerSecurity returns the security in the section tls: TLS if the section has both files (config.go of
// roadrunner-server/grpc). Environment variables may name the files.
func roadRunnerSecurity(settings untrusted.Document) []finding.Finding {
	key, _ := settings.Get("grpc.tls.key")
	certificate, _ := settings.Get("grpc.tls.cert")
	at := finding.AtLine(certificate.Line, "")
	switch {
	case key.Value == "" || certificate.Value == "":
		return nil
	case environmentValue.ReplaceAllString(certificate.Value, "$default") == "":
		return []finding.Finding{finding.UsesOther(at, "")}
	}
	return []finding.Finding{finding.UsesTLS(at, "")}
}
