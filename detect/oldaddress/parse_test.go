package address

import "testing"

func TestHasPortLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"const PORT = 50051":                         true,
		"fn port() -> u16 {\n    8080\n}\n":          true,
		"serve(\n  pool,\n  \"0.0.0.0\",\n  8080\n)": true,
		"PORT = 7\n\n\n\n\nyear = 2024":              false,
		"timeout = 5000\n":                           false,
		"id = 1234567; // a port\n":                  false,
		"Copyright 2024\n\nlisten_addr: ':9090'\r\n": true,
		"":        false,
		"port 80": false,
	} {
		if got := HasPortLine([]byte(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
