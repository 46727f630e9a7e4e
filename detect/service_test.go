package detect_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/grpc-cnb/health-probe/detect"
)

// The entry goes through a TOML file between the phases.
func TestServiceComesBackFromThePlan(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]detect.Service{
		"nothing known": {},
		"all known": {Language: "go", Framework: "grpc-go", Evidence: detect.Place{Path: "cmd/main.go", Line: 4},
			Health: detect.HealthRegistered, HealthEvidence: detect.Place{Path: "cmd/main.go", Line: 5}, Port: 50051},
		"program": {Language: "go", Framework: "grpc-go", Evidence: detect.Place{Path: "bin/app"}, Built: true,
			Health: detect.HealthMissing},
		"program with a colon": {Language: "go", Evidence: detect.Place{Path: "app:7"}, Built: true},
		"odd names":            {Language: "go", Framework: "grpc-go", Evidence: detect.Place{Path: "a\n\xff:7.go", Line: 1}},
		"quotes":               {Language: "go", Framework: "grpc-go", Evidence: detect.Place{Path: `"a".go`, Line: 1}},
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
			if got := detect.ServiceFromMetadata(metadata); got != want {
				t.Errorf("came back as %+v, was %+v", got, want)
			}
		})
	}
}

func TestMetadataOfOtherTypesIsNotKnown(t *testing.T) {
	t.Parallel()
	got := detect.ServiceFromMetadata(map[string]any{
		"language": 1, "framework": []any{}, "evidence": true, "health": "fine", "health_evidence": nil, "port": int64(70000),
	})
	if got != (detect.Service{}) {
		t.Errorf("got %+v, want nothing", got)
	}
}

func TestMetadataOfOthersIsPrintable(t *testing.T) {
	t.Parallel()
	got := detect.ServiceFromMetadata(map[string]any{"language": "go\x1b[31m", "framework": "a\nb", "evidence": "x\x1b:1"})
	if line := got.String() + got.Language; strings.ContainsAny(line, "\x1b\n") {
		t.Errorf("the line has control characters: %q", line)
	}
}

func TestHealthWarningNamesWhatToCall(t *testing.T) {
	t.Parallel()
	for framework, want := range map[string]string{
		"grpc-go": "RegisterHealthServer(", "connect-go": "grpchealth.NewHandler(", "dapr": "NewServiceWithGrpcServer",
		"kratos": "CustomHealth()", "go-micro": "beside go-micro", "yarpc": "beside yarpc", "kitex": "beside kitex",
	} {
		s := detect.Service{Language: "go", Framework: framework, Health: detect.HealthMissing}
		if got := s.HealthWarning(); !strings.Contains(got, want) {
			t.Errorf("%s: %q does not name %q", framework, got, want)
		}
	}
}

func TestHealthWarningIsForMissingHealthAlone(t *testing.T) {
	t.Parallel()
	for _, s := range []detect.Service{{}, {Language: "go"}, {Language: "go", Health: detect.HealthAutomatic},
		{Language: "none", Health: detect.HealthMissing}} {
		if got := s.HealthWarning(); got != "" {
			t.Errorf("%+v: warning %q", s, got)
		}
	}
}
