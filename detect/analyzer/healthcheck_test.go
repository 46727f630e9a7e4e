package analyzer

import (
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// The body of an implementation of Check says whether it knows the whole server, and else which name it knows.
func TestWhatACheckKnows(t *testing.T) {
	t.Parallel()
	const server = "the whole server"
	grammar := source.Grammar{source.String(`"`, `"`, source.Quoting{})}
	for _, test := range []struct{ want, body string }{
		{server, `return SERVING;`},
		{server, `log(request.service); return SERVING;`},
		{"", `return map[request.service] ?? NOT_FOUND`},
		{server, `if (request.service.isEmpty()) return SERVING; return NOT_FOUND;`},
		{server, `if (request.service.length == 0) return SERVING; return NOT_FOUND;`},
		{server, `if (!request.service) return SERVING; return NOT_FOUND;`},
		{server, `if (request.service == "") return SERVING; return NOT_FOUND;`},
		{server, `name = request.service || "app"; return all.get(name) or NOT_FOUND;`},
		{server, `unless (request.service) { return SERVING } return NOT_FOUND`},
		{"", `return all.get(request.service, UNKNOWN);`},
		{"", `if (!all.has(request.getService())) throw NOT_FOUND; return SERVING;`},
		{"shop", `if (request.service == "shop") return SERVING; return NOT_FOUND;`},
		{"shop", `if (!"shop".equals(request.getService())) return NOT_FOUND; return SERVING;`},
		{"live,ready", `switch (request.service) { case "live": case "ready": return SERVING; } return NOT_FOUND`},
		{"a,b", `request.service match { case "a" | "b" => SERVING; case _ => NOT_FOUND }`},
		{"", "all.get(request.service);\nif (db.state() == \"down\") return NOT_SERVING;\nreturn NOT_FOUND;"},
		{"", "all.get(request.service);\nswitch (db.state()) { case \"down\": return NOT_FOUND }"},
		{"live", "name = request.getService();\nswitch (name) { case \"live\": return SERVING; } return NOT_FOUND"},
	} {
		text := grammar.Read([]byte("Status check(HealthCheckRequest request) {\n  " + test.body + "\n}\n"))
		found := HealthChecks(text)
		if len(found) != 1 {
			t.Errorf("%s: %d implementations", test.body, len(found))
			continue
		}
		check, _ := found[0].(finding.HealthCheck)
		got := strings.Join(check.Services, ",")
		if check.OfServer {
			got = server
		}
		if got != test.want {
			t.Errorf("%s: knows %q, want %q", test.body, got, test.want)
		}
	}
}

// A method of an object that is called is no implementation, one that is assigned is.
func TestCalledAndAssignedChecks(t *testing.T) {
	t.Parallel()
	grammar := source.Grammar{source.String(`"`, `"`, source.Quoting{})}
	for text, want := range map[string]int{
		"health.check = function (call) { callback(SERVING) }":           1,
		"health.check(HealthCheckRequest.newBuilder(), call => { a() })": 0,
		"health->check(HealthCheckRequest()) { }":                        0,
		"Status check(HealthCheckRequest request) { return SERVING; }":   1,
	} {
		if found := HealthChecks(grammar.Read([]byte("HealthCheckRequest\n" + text + "\n"))); len(found) != want {
			t.Errorf("%s has %d implementations, want %d", text, len(found), want)
		}
	}
}
