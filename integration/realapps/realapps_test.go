package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// The command, its remark, what is not known and what Kubernetes can do are read from a log as users see it.
func TestFindProbe(t *testing.T) {
	t.Parallel()
	log := `  \x1b[34mgRPC server: Go, grpc-go (main.go:3); health service registered (main.go:4); port not known\x1b[0m
  Probe: /probe
    readinessProbe: {exec: {command: ["/probe", "-addr=localhost:50051"]}, timeoutSeconds: 3} # the port of your server
  The address of the server is not known: set -addr in the command
  Or: readinessProbe: {grpc: {port: 5000}} # Kubernetes asks by itself`
	got, err := findProbe(strings.Split(strings.ReplaceAll(log, `\x1b`, "\x1b"), "\n"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got.Command, []string{"/probe", "-addr=localhost:50051"}) ||
		got.Remark != "the port of your server" || len(got.Doubts) != 1 ||
		!strings.HasPrefix(got.Alternative, "Or: ") {
		t.Errorf("got %+v", got)
	}
	if _, err := findProbe([]string{"Probe: /probe"}); err == nil {
		t.Error("got no error for a log without a command")
	}
}

// A verdict follows from what the log says, what the app serves, and how the printed probe ends.
func TestJudge(t *testing.T) {
	t.Parallel()
	said := claim{Evidence: "main.go:3", Health: "registered", Address: "localhost:80", Security: "plaintext"}
	serves := listener{Address: "localhost:80", Security: "plaintext", Health: true}
	with := func(change func(c *claim, l *listener)) (claim, listener) {
		c, l := said, serves
		change(&c, &l)
		return c, l
	}
	for name, c := range map[string]struct {
		change func(c *claim, l *listener)
		code   int
		want   verdict
	}{
		"all is right":          {func(*claim, *listener) {}, 0, passes},
		"the port is not known": {func(c *claim, _ *listener) { c.Address = "" }, 0, passesByLuck},
		"TLS is not known":      {func(c *claim, _ *listener) { c.Security = "" }, 0, passesByLuck},
		"another port":          {func(_ *claim, l *listener) { l.Address = "localhost:81" }, exitUnreachable, wrong},
		"the port in a variable": {
			func(c *claim, l *listener) { c.Variable, l.Address = "PORT", "localhost:81" }, 0, passes,
		},
		"TLS": {func(_ *claim, l *listener) { l.Security = "tls" }, exitUnreachable, wrong},
		"TLS by a setting": {
			func(c *claim, l *listener) { c.Setting, l.Security = "-tls", "tls" }, exitUnreachable, named,
		},
		"no health service": {
			func(c *claim, l *listener) { c.Health, l.Health = "missing", false }, exitRPC, noHealth,
		},
		"health is not there": {func(_ *claim, l *listener) { l.Health = false }, exitRPC, wrong},
		"health is there":     {func(c *claim, _ *listener) { c.Health = "missing" }, 0, wrong},
		"another server":      {func(c *claim, _ *listener) { c.Evidence = "other.go:3" }, 0, wrong},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			says, is := with(c.change)
			r := result{App: app{Lead: "main.go"}, Claims: []claim{says}, Listeners: []listener{is}, Code: c.code}
			if got := judge(r); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got := judge(result{Claims: []claim{said}}); got != notStarted {
		t.Errorf("got %q for an app that serves nothing, want %q", got, notStarted)
	}
}

// The kernel prints the addresses of loopback in words of the machine's byte order.
func TestIsLoopback(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"0100007F": true, "00000000": false, "00000000000000000000000001000000": true,
		"00000000000000000000000000000000": false, "0000000000000000FFFF00000100007F": true,
	} {
		if got := isLoopback(host); got != want {
			t.Errorf("isLoopback(%q) = %t, want %t", host, got, want)
		}
	}
}

// The tables of apps can be read, and name what they expect in words that there are.
func TestTable(t *testing.T) {
	t.Parallel()
	var apps []app
	for _, file := range []string{"apps.toml", "github.toml"} {
		read, err := readTable(file)
		if err != nil {
			t.Fatal(err)
		}
		apps = append(apps, read...)
	}
	names := map[string]bool{}
	for _, a := range apps {
		if names[a.Name] || a.Name == "" || a.Run == "" || a.Language == "" {
			t.Errorf("the row %+v lacks something, or its name is there twice", a)
		}
		names[a.Name] = true
		if !slices.Contains([]verdict{passes, noHealth, named}, a.want()) {
			t.Errorf("%s expects %q", a.Name, a.Outcome)
		}
	}
}

// docs/real-apps.md has a row for each app of the tables, with the outcome that these expect or the one that is open,
// and counts them.
func TestResults(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../../docs/real-apps.md")
	if err != nil {
		t.Fatal(err)
	}
	var outcomes []string
	tables := strings.Split(string(document), "| app | language |")[1:]
	for i, file := range []string{"apps.toml", "github.toml"} {
		apps, err := readTable(file)
		if err != nil {
			t.Fatal(err)
		}
		text, _, _ := strings.Cut(tables[i], "\n\n")
		rows := strings.Split(text, "\n")[2:]
		if len(rows) != len(apps) {
			t.Fatalf("the document has %d rows for the %d apps of %s", len(rows), len(apps), file)
		}
		for j, a := range apps {
			cells := strings.Split(rows[j], " | ")
			outcome := strings.TrimSuffix(cells[len(cells)-1], " |")
			name, _, _ := strings.Cut(strings.TrimPrefix(cells[0], "| "), " ")
			isOpen := strings.HasPrefix(outcome, string(notStarted)) || strings.HasPrefix(outcome, string(wrong))
			if name != a.Name || outcome != string(a.want()) && !isOpen {
				t.Errorf("%s expects of %s the outcome %q, and the document has %q", file, a.Name, a.want(), rows[j])
			}
			outcomes = append(outcomes, outcome)
		}
	}
	count := func(of verdict) (n int) {
		for _, outcome := range outcomes {
			if outcome == string(of) || strings.HasPrefix(outcome, string(of)+":") {
				n++
			}
		}
		return n
	}
	want := fmt.Sprintf("%d apps in 6 languages: %d pass, %d by luck; %d have no health service, as said;\n"+
		"%d fail, as said; the log is wrong about %d; %d does not start", len(outcomes), count(passes),
		count(passesByLuck), count(noHealth), count(named), count(wrong), count(notStarted))
	if !strings.Contains(string(document), want) {
		t.Errorf("docs/real-apps.md does not say:\n%s", want)
	}
}
