package detect

import (
	"slices"
	"testing"
)

// What the linker keeps of a program was seen in programs built with each module.
func TestGoProgramSigns(t *testing.T) {
	t.Parallel()
	const h2c = "golang.org/x/net/http2/h2c.NewHandler"
	for name, c := range map[string]struct {
		functions []string
		want      string // the framework
		health    bool
	}{
		"client":               {},
		"grpc-go":              {functions: []string{goServerFunc}, want: "grpc-go"},
		"grpc-go with health":  {functions: []string{goServerFunc, goHealthFunc}, want: "grpc-go", health: true},
		"plugin":               {functions: []string{goServerFunc, goHealthFunc, goPluginFunc}},
		"connect over HTTP/1":  {functions: []string{goHandlerFunc}},
		"connect over h2c":     {functions: []string{goHandlerFunc, h2c, goCheckFunc}, want: "connect-go", health: true},
		"connect over TLS":     {functions: []string{goHandlerFunc, "net/http.(*Server).ServeTLS"}, want: "connect-go"},
		"connect in protocols": {functions: []string{goHandlerFunc, "net/http.(*Protocols).SetUnencryptedHTTP2"}, want: "connect-go"},
		"h2c of its own":       {functions: []string{h2c}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			framework, health := "", false
			for _, s := range goProgramSigns(func(f string) bool { return slices.Contains(c.functions, f) }) {
				framework += s.framework
				health = health || s.what == goHealthFunc || s.what == goCheckFunc
			}
			if framework != c.want || health != c.health {
				t.Errorf("%q, health %v; want %q, %v", framework, health, c.want, c.health)
			}
		})
	}
}
