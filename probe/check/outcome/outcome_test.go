package outcome

import (
	"errors"
	"fmt"
	"testing"
)

func TestOutcomesAreEqualWithOtherTexts(t *testing.T) {
	t.Parallel()
	refused := Failure{Code: ExitConnection, Class: ClassConnect, Err: errors.New("refused"), Hint: "start it"}
	one := Outcome{Failures: Failures{&refused}}
	for name, test := range map[string]struct {
		other Failures
		equal bool
	}{
		"another text": {
			Failures{{Code: ExitConnection, Class: ClassConnect, Err: errors.New("reset"), Hint: "start it"}}, true,
		},
		"the class that follows from the code": {
			Failures{{Code: ExitConnection, Err: refused.Err, Hint: "start it"}}, true,
		},
		"another class": {
			Failures{{Code: ExitConnection, Class: ClassTLS, Err: refused.Err, Hint: "start it"}}, false,
		},
		"another hint": {
			Failures{{Code: ExitConnection, Class: ClassConnect, Err: refused.Err, Hint: "set -tls"}}, false,
		},
		"two failures": {Failures{&refused, &refused}, false},
		"none":         {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := one.Equals(&Outcome{Failures: test.other}); got != test.equal {
				t.Errorf("equal: %t, want %t", got, test.equal)
			}
		})
	}
}

func TestErrorOnOneLineHasTheHintOfItsFailure(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"parsing: no port (write :5000)": fmt.Errorf("parsing: %w", Misuse(errors.New("no port"), "write :5000")),
		"no port":                        Misuse(errors.New("no port"), ""),
		"no such file":                   errors.New("no such file"),
	} {
		if got := WithHint(err).Error(); got != want {
			t.Errorf("the error is %q, want %q", got, want)
		}
	}
}
