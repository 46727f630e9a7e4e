package plan_test

import (
	"errors"
	"testing"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// A mistake goes through the plan without the secrets and the control characters that a setting may hold.
func TestMistakesComeBackFromThePlan(t *testing.T) {
	t.Parallel()
	for mistake, want := range map[string]string{
		`reading $A: "b" is not allowed`:                      `reading $A: "b" is not allowed`,
		"reading ghp_s3cretOfTheTests/x":                      "reading (a token)/x",
		"reading github_pat_11ABCDEFG0abcdefghijkl_x":         "reading (a token)",
		`reading "https://me:s3cret@github.com/a/b" and more`: `reading "https://(hidden)@github.com/a/b" and more`,
		"two\nlines\x1b[2J of \xff \u009b \u202e and \ufffd Ünïcode": `two\nlines\x1b[2J of \xff \u009b \u202e and ` +
			"\ufffd Ünïcode",
	} {
		got := plan.MistakeFromMetadata(plan.MistakeMetadata(errors.New(mistake)))
		if got == nil || got.Error() != want {
			t.Errorf("%q came back as %q, want %q", mistake, got, want)
		}
	}
	for _, metadata := range []map[string]any{nil, {"mistake": ""}, {"mistake": 1}, {"language": "go"}} {
		if got := plan.MistakeFromMetadata(metadata); got != nil {
			t.Errorf("%v holds the mistake %v", metadata, got)
		}
	}
}
