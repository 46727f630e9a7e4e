package address

import "testing"

func TestVariableOfAWholeAddress(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]string{
		`process.env.ORDERS_SERVICE || '127.0.0.1:8002'`:  "ORDERS_SERVICE",
		`env.ORDERS_SERVICE ?? "0.0.0.0:8002"`:            "ORDERS_SERVICE",
		`os.environ.get("ORDERS", "[::]:8002")`:           "ORDERS",
		`ENV.fetch('ORDERS', '0.0.0.0:8002')`:             "ORDERS",
		`os.getenv("ORDERS") or "[::]:8002"`:              "ORDERS",
		"`${process.env.HOST || 'localhost'}:8002`":       "",
		`process.env.HOST ? host() : '127.0.0.1:8002'`:    "",
		`(process.env.HOST || 'localhost') + ':8002'`:     "",
		`os.environ.get("HOST", "localhost") + ":8002"`:   "",
		`process.env.ORDERS || process.env.URL || "a:80"`: "",
	} {
		if got := variableOf([]byte(code)); got != want {
			t.Errorf("%s: %q, want %q", code, got, want)
		}
	}
}
