package plan_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// The entry goes through a TOML file between the phases.
func TestServerComesBackFromThePlan(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]plan.Server{
		"nothing known": {},
		"all known": {
			Language: "go", Framework: "grpc-go", Evidence: plan.Place{Path: "cmd/main.go", Line: 4},
			Health: plan.HealthRegistered, HealthAdvice: "healthpb.Register(server)",
			HealthEvidence: plan.Place{Path: "cmd/main.go", Line: 5}, Port: 50051,
			PortEvidence: plan.Place{Path: "cmd/main.go", Line: 12}, Others: 2,
		},
		"program": {
			Language: "go", Framework: "grpc-go", Evidence: plan.Place{Path: "bin/app"}, Built: true,
			Health: plan.HealthMissing,
		},
		"program with a colon": {Language: "go", Evidence: plan.Place{Path: "app:7"}, Built: true},
		"odd names": {
			Language: "go", Framework: "grpc-go",
			Evidence: plan.Place{Path: "a\n\xff:7.go", Line: 1},
		},
		"quotes": {Language: "go", Framework: "grpc-go", Evidence: plan.Place{Path: `"a".go`, Line: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var file bytes.Buffer
			if err := toml.NewEncoder(&file).Encode(want.Metadata()); err != nil {
				t.Fatal(err)
			}
			var metadata map[string]any
			if _, err := toml.NewDecoder(&file).Decode(&metadata); err != nil {
				t.Fatal(err)
			}
			if got := plan.ServerFromMetadata(metadata); got != want {
				t.Errorf("came back as %+v, was %+v", got, want)
			}
		})
	}
}

func TestMetadataOfOtherTypesIsNotKnown(t *testing.T) {
	t.Parallel()
	got := plan.ServerFromMetadata(map[string]any{
		"language": 1, "framework": []any{}, "evidence": true, "health": "fine", "health_evidence": nil,
		"port": int64(70000),
	})
	if got != (plan.Server{}) {
		t.Errorf("got %+v, want nothing", got)
	}
}

func TestMetadataOfOthersIsPrintable(t *testing.T) {
	t.Parallel()
	got := plan.ServerFromMetadata(map[string]any{
		"language": "go\x1b[31m", "framework": "a\nb",
		"evidence": "x\x1b:1",
	})
	if line := got.String() + got.Language + got.HealthWarning(); strings.ContainsAny(line, "\x1b\n") {
		t.Errorf("the line has control characters: %q", line)
	}
}

func TestHealthWarningIsForMissingHealthAlone(t *testing.T) {
	t.Parallel()
	for _, s := range []plan.Server{
		{},
		{Language: "go"},
		{Language: "go", Health: plan.HealthAutomatic},
		{HealthAdvice: "advice"},
		{Health: plan.HealthMissing},
	} {
		if got := s.HealthWarning(); got != "" {
			t.Errorf("%+v: warning %q", s, got)
		}
	}
}
