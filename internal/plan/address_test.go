package plan_test

import (
	"reflect"
	"testing"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// A probe beside the server reaches it at the port that is known, if that is not one of another interface alone.
func TestAddressesAsAProbeTakesThem(t *testing.T) {
	t.Parallel()
	for want, a := range map[string]plan.Address{
		"localhost:80": {Port: 80, Certainty: plan.Written},
		"localhost:81": {Host: plan.Loopback, Port: 81, Certainty: plan.Default, Variable: "PORT"},
		"unix:/a.sock": {Host: plan.UnixSocket, Port: 82, Socket: "unix:/a.sock", Certainty: plan.Written},
	} {
		if got := a.Target(); got != want || !a.IsKnown() {
			t.Errorf("the target of %+v is %q, want %q", a, got, want)
		}
	}
	for _, a := range []plan.Address{
		{},
		{Port: 80},
		{Host: plan.OneInterface, Port: 80, Certainty: plan.Written},
		{Host: plan.UnixSocket, Port: 80, Certainty: plan.Written},
		{Host: plan.UnixSocket, Socket: "unix:/a.sock"},
	} {
		if got := a.Target(); got != "" || a.Local() != 0 || a.IsKnown() {
			t.Errorf("the target of %+v is %q, and its port %d", a, got, a.Local())
		}
	}
}

// A port that nothing is believed of does not go into the plan.
func TestPortThatIsNotCertainIsNotPlanned(t *testing.T) {
	t.Parallel()
	s := plan.Server{Language: "go", Address: plan.Address{Port: 80}}
	want := map[string]any{"language": "go"}
	if got := plan.List([]plan.Server{s}).Metadata(); !reflect.DeepEqual(got, want) {
		t.Errorf("planned is %v, want %v", got, want)
	}
}
