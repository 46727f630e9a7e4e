package php

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

var (
	// roadRunnerConfig is the file name of a configuration of RoadRunner.
	roadRunnerConfig = lazyregexp.New(`^(?:\.?rr(?:[._-][\w.-]+)?|\.?roadrunner)\.ya?ml$`)
	// isVariant is the file name of a configuration that is there for development or tests.
	isVariant = lazyregexp.New(
		`(?i)[._-](?:dev|develop|development|tests?|testing|local|debug|ci|example|sample)[._-]`)
	// mayBeIncluded is the path of a file that a configuration of RoadRunner may include: one about gRPC, or one in a
	// folder of RoadRunner.
	mayBeIncluded = lazyregexp.New(`(?:^|/)[\w.-]*grpc[\w.-]*\.ya?ml$|(?:^|/)(?:rr|roadrunner)/[^/]+\.ya?ml$`)
	// environmentValue is a reference to an environment variable, with its default or without: ${PORT:-9001}.
	environmentValue = lazyregexp.New(`\$\{(?P<variable>\w+)(?::?-(?P<default>[^{}]*))?\}`)
	// includeSetting is the key of a file to include, of a list of them.
	includeSetting = lazyregexp.New(`^include\[\d+\]$`)
	// tlsSettings are the files of a server's section tls. There is TLS if it has both (config.go of
	// roadrunner-server/grpc).
	tlsSettings = []string{"grpc.tls.key", "grpc.tls.cert"}
	// requiredTypes are the values of client_auth_type, which counts beside a root_ca, that require a certificate.
	requiredTypes = []string{"require_any_client_cert", "require_and_verify_client_cert"}
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
	for _, s := range settings {
		if includeSetting.MatchString(s.Key) {
			result.Extra.includes = append(result.Extra.includes, s.Value)
		}
	}
	section, _ := settings.Get("grpc")
	listen, ok := settings.Get("grpc.listen")
	if !ok || listen.Value == "" {
		return result, nil
	}
	// Only RoadRunner's first version has workers in this section, and no version. It registers no health service.
	_, hasWorkers := settings.Get("grpc.workers")
	_, hasVersion := settings.Get("version")
	isFirstVersion := hasWorkers && !hasVersion
	where := environmentValue.ReplaceAllString(listen.Value, "$default")
	server := finding.Server{
		Site: finding.AtLine(section.Line, "grpc: listen: "+where), Framework: roadRunner, InMain: true,
		AutomaticHealth: !isFirstVersion,
	}
	listener := finding.ListenerAt(roadRunnerAddress(listen, where))
	result.Findings = append([]finding.Finding{server, listener}, roadRunnerSecurity(settings)...)
	return result, nil
}

// roadRunnerAddress returns the address of a setting whose references are replaced by their defaults.
func roadRunnerAddress(listen untrusted.Setting, where string) address.Value {
	v := address.Setting(strings.TrimPrefix(strings.Replace(where, "unix://", "unix:", 1), "tcp://"), listen.Line)
	references := environmentValue.FindAllStringSubmatch(listen.Value, address.MaxListeners)
	if len(references) == 0 {
		return v
	}
	v.Certainty = min(v.Certainty, address.Default)
	if last := references[len(references)-1]; strings.HasSuffix(listen.Value, last[0]) {
		v.Variable = last[1]
	}
	return v
}

// roadRunnerSecurity returns what the section tls says, if there is one. Without the files that environment variables
// name there is no TLS.
func roadRunnerSecurity(settings untrusted.Document) []finding.Finding {
	says := plan.Security{Transport: plan.TLS}
	line := 0
	for _, key := range tlsSettings {
		file, ok := settings.Get(key)
		if !ok || file.Value == "" {
			return nil
		}
		line, says.Certificate = file.Line, environmentValue.ReplaceAllString(file.Value, "$default")
		if m := environmentValue.FindStringSubmatch(file.Value); m != nil && says.Certificate == "" {
			says.Transport, says.Setting = plan.UnknownTransport, "$"+m[1]
		}
	}
	authority, ok := settings.Get("grpc.tls.root_ca")
	required, _ := settings.Get("grpc.tls.client_auth_type")
	if ok && slices.Contains(requiredTypes, required.Value) && says.Setting == "" {
		says.Transport, says.Authority = plan.MutualTLS, environmentValue.ReplaceAllString(authority.Value, "$default")
	}
	return []finding.Finding{finding.SecurityAt(line, says)}
}
