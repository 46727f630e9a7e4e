package php

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// roadRunnerPackage is the package with the version of RoadRunner.
const roadRunnerPackage = "spiral/roadrunner"

// oldRoadRunner is a constraint of Composer that only versions of RoadRunner before 2.10 satisfy: ^1.8, 2.8.2, 2.9.*,
// ~2.9.0. The gRPC plugin of these versions has no health service.
var oldRoadRunner = lazyregexp.New(`^\s*(?:[v=^~]*1(?:\.\d+){0,2}(?:\.\*)?|` +
	`[v=]*2\.\d(?:\.\d+|\.\*)?|~2\.\d\.\d+)\s*$`)

// loadEnvironment are frameworks that load a file .env by themselves.
var loadEnvironment = []string{
	"hyperf/framework", "hyperf/di", "laravel/framework", "laravel/lumen-framework", "symfony/dotenv",
	"spiral/framework", "spiral/dotenv-bridge",
}

// analyzeComposer reads the manifest of a project. An unreadable manifest begins a project anyway.
func analyzeComposer(f *tree.File) (*analyzer.Result[extra], error) {
	result := &analyzer.Result[extra]{ProjectRoot: true}
	text, err := f.Text()
	if err != nil {
		return result, err
	}
	var manifest struct {
		Type    string            `json:"type"`
		Require map[string]string `json:"require"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(text, []byte("\ufeff")), &manifest); err != nil {
		return result, fmt.Errorf("reading it as a project of no known content: %w", err)
	}
	result.Extra.isLibrary = manifest.Type == "library"
	for _, dependency := range loadEnvironment {
		_, ok := manifest.Require[dependency]
		result.Extra.loadsEnvironment = result.Extra.loadsEnvironment || ok
	}
	if constraint, ok := manifest.Require[roadRunnerPackage]; ok && oldRoadRunner.MatchString(constraint) {
		before, _, _ := bytes.Cut(text, []byte(`"`+roadRunnerPackage+`"`))
		line := 1 + bytes.Count(before, []byte("\n"))
		result.Findings = []finding.Finding{finding.HealthDisabled{Site: finding.AtLine(line, "")}}
	}
	return result, nil
}
