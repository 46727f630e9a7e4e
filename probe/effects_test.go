package probe_test

import (
	"os/exec"
	"testing"

	"github.com/grpc-cnb/health-probe/probe/flags"
	"github.com/grpc-cnb/health-probe/probe/probetest"
)

// A flag that nothing reads has no effect, and fails here by its name.
func TestEachFlagHasAnEffect(t *testing.T) {
	t.Parallel()
	for _, f := range flags.All() {
		effect, ok := probetest.Effects[f.Name]
		if !ok {
			t.Errorf("-%s: probetest/effects.go: add two command lines that differ in the flag, and in what the probe "+
				"does", f.Name)
			continue
		}
		for program := range programs {
			t.Run(program+" -"+f.Name, func(t *testing.T) {
				t.Parallel()
				effect.WantEffect(t, f.Name, func(words []string) string {
					cmd := exec.Command(program, words...)
					cmd.Env = probetest.PatientEnv()
					out, _ := cmd.CombinedOutput() // how it ended is in the state
					return cmd.ProcessState.String() + "\n" + string(out)
				})
			})
		}
	}
}
