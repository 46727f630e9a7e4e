package plan_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// The entry goes through a TOML file between the phases.
func TestServersComeBackFromThePlan(t *testing.T) {
	t.Parallel()
	known := plan.Server{
		Language: "go", Framework: "grpc-go", Evidence: plan.Place{Path: "cmd/main.go", Line: 4},
		Health: plan.HealthRegistered, HealthAdvice: "healthpb.Register(server)",
		Service:  "shop.v1.Orders,basket-service",
		Liveness: "liveness", StatusName: "names[0]", StatusEvidence: plan.Place{Path: "cmd/main.go", Line: 6},
		HealthEvidence: plan.Place{Path: "cmd/main.go", Line: 5}, IsServiceUnknown: true, SpeaksFirst: true,
		Address: plan.Address{
			Host: plan.Loopback, Port: 50051, Variable: "PORT", Certainty: plan.Default,
			Place: plan.Place{Path: "cmd/main.go", Line: 12},
		},
		Security: plan.Security{
			Transport: plan.TLS,
			Place:     plan.Place{Path: "cmd/tls.go", Line: 1},
		},
	}
	socket := plan.Server{Language: "cpp", Address: plan.Address{
		Host: plan.UnixSocket, Socket: "unix:/run/app.sock", Certainty: plan.Written,
	}}
	for name, want := range map[string]plan.Servers{
		"nothing known": {},
		"all known":     plan.List([]plan.Server{known}),
		"several":       plan.List([]plan.Server{socket, known, socket}),
		"a great many":  plan.List(slices.Repeat([]plan.Server{socket}, 2*plan.MaxListed)),
		"program": plan.List([]plan.Server{{
			Language: "go", Framework: "grpc-go", Evidence: plan.Place{Path: "bin/app"}, Built: true,
			Health: plan.HealthMissing,
		}}),
		"program with a colon": plan.List([]plan.Server{
			{Language: "go", Evidence: plan.Place{Path: "app:7"}, Built: true},
		}),
		"odd names": plan.List([]plan.Server{
			{Language: "go", Framework: "grpc-go", Evidence: plan.Place{Path: "a\n\xff:7.go", Line: 1}},
		}),
		"quotes": plan.List([]plan.Server{
			{Language: "go", Framework: "grpc-go", Evidence: plan.Place{Path: `"a".go`, Line: 1}},
		}),
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
			if got := plan.ServersFromMetadata(metadata); !reflect.DeepEqual(got, want) {
				t.Errorf("came back as %+v, was %+v", got, want)
			}
		})
	}
}

func TestMetadataOfOtherTypesIsNotKnown(t *testing.T) {
	t.Parallel()
	got := plan.ServersFromMetadata(map[string]any{
		"language": 1, "framework": []any{}, "evidence": true, "health": "fine", "health_evidence": nil,
		"health_service": "a,b c", "health_liveness_service": "-x", "health_status_name": 1,
		"port": int64(65536), "security": "strong", "address_variable": "0A", "address_certainty": "surely",
		"host": "moon", "other_servers": "many", "unlisted_servers": int64(-1), "leads_because": 1,
	})
	if !reflect.DeepEqual(got, plan.Servers{}) {
		t.Errorf("got %+v, want nothing", got)
	}
}

func TestMetadataOfOthersIsPrintable(t *testing.T) {
	t.Parallel()
	got := plan.ServersFromMetadata(map[string]any{
		"language": "go\x1b[31m", "framework": "a\nb", "evidence": "x\x1b:1", "socket": "unix:\x1b", "host": "socket",
		"security_setting": "a\x1bb",
	}).Lead()
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
