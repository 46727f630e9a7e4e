package label_test

import (
	"testing"

	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/label"
)

// FuzzLabel reads labels of images that others made. Whatever is chosen has a probe of exactly one kind.
func FuzzLabel(f *testing.F) {
	f.Add(`{"schema":1,"path":"/p","exec":{"command":["/p"]},` +
		`"bridge":{"port":8086,"start":"manifest","command":["/b"]}}`)
	f.Add(`{"schema":1,"path":"/p","probes":{"grpc":{"readinessProbe":{"grpc":{"port":1}},"remarks":["x"]}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		l, err := label.Parse(text)
		if err != nil {
			return
		}
		for _, kind := range label.All() {
			for _, bypassed := range []bool{false, true} {
				probes, _, err := l.Choose(kind, bypassed)
				if err == nil && (probes.Readiness.Exec == nil) == (probes.Readiness.GRPC == nil) {
					t.Errorf("%s of %q has no probe of one kind", kind, text)
				}
			}
		}
	})
}
