package execprobe_test

import (
	"net"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"github.com/grpc-cnb/health-probe/build/execprobe"
	"github.com/grpc-cnb/health-probe/internal/plan"
	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/flags"
	"github.com/grpc-cnb/health-probe/probe/lean"
)

// exitCode returns that of the command of a probe, which asks the server at an address.
func exitCode(t *testing.T, p execprobe.Probe, address string) outcome.ExitCode {
	t.Helper()
	o, err := flags.ReadOptions(append(p.Command[1:], "-addr="+address))
	if err != nil {
		t.Fatal(err)
	}
	prober := check.Prober{Transport: lean.Transport{}, Options: &o}
	return prober.Run().Code()
}

// grpc-go calls the whole server SERVING from the start: the probe without -service passes, whatever the app sets. The
// probe for the services that the app sets does not.
func TestProbesOfNamedServicesSeeTheirStatuses(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, status := grpc.NewServer(), health.NewServer()
	status.SetServingStatus("liveness", healthpb.HealthCheckResponse_SERVING)
	status.SetServingStatus("readiness", healthpb.HealthCheckResponse_NOT_SERVING)
	healthpb.RegisterHealthServer(s, status)
	go s.Serve(listener)
	defer s.Stop()

	d, err := execprobe.Defaults(nil)
	if err != nil {
		t.Fatal(err)
	}
	of := func(service, liveness string) execprobe.Probe {
		return execprobe.New(execprobe.Given{
			Path: execprobe.ImagePath, Defaults: d, ReadsAddress: true, IsOwn: true,
			Server: plan.Server{Language: "go", Service: service, Liveness: liveness},
		})
	}
	bare, named, several := of("", ""), of("readiness", "liveness"), of("liveness,readiness", "")
	expect := func(when string, want outcome.ExitCode) {
		t.Helper()
		for name, code := range map[string][2]outcome.ExitCode{
			"bare":      {exitCode(t, bare, listener.Addr().String()), outcome.ExitServing},
			"liveness":  {exitCode(t, *named.Liveness(), listener.Addr().String()), outcome.ExitServing},
			"readiness": {exitCode(t, named, listener.Addr().String()), want},
			"several":   {exitCode(t, several, listener.Addr().String()), want},
		} {
			if code[0] != code[1] {
				t.Errorf("%s, the %s probe exits %d, want %d", when, name, code[0], code[1])
			}
		}
	}
	expect("before the app is ready", outcome.ExitNotServing)
	status.SetServingStatus("readiness", healthpb.HealthCheckResponse_SERVING)
	expect("after that", outcome.ExitServing)
}

// The probe of grpc-ecosystem asks for one service: the others are named beside the command.
func TestProgramThatAsksForOneService(t *testing.T) {
	t.Parallel()
	d, err := execprobe.Defaults(nil)
	if err != nil {
		t.Fatal(err)
	}
	p := execprobe.New(execprobe.Given{
		Path: "/probe", Defaults: d, Server: asked(server(port, plaintext), "a,b", ""),
	})
	var report lines
	p.Report(&report, false, false)
	const remark = "asks for one service: give each other one (b) a probe of its own"
	if !slices.Contains(p.Command, "-service=a") || !strings.Contains(report.String(), remark) {
		t.Errorf("the command is %q, and the report:\n%swant -service=a and %q", p.Command, report.String(), remark)
	}
}
