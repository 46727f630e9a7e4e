package elixir

import "testing"

func TestFilesThatAreRead(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{
		"lib/app.ex": true, "mix.exs": true, "run.exs": true,
		"config/config.exs": true, "config/prod.exs": true, "config/runtime.exs": true,
		"config/dev.exs": false, "config/test.exs": false,
		"lib/order.pb.ex": false, "lib/app_test.exs": false, "test/app.ex": false, "deps/a/lib/a.ex": false,
		"README": false,
	} {
		if got := required(file); got != want {
			t.Errorf("%s is read: %t", file, got)
		}
	}
}
