package analyzer

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
)

// Each case is what a process executes, the servers of an app, and which of them it starts: a question mark after them
// says that it is not known which.
func TestServersThatAProcessStarts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ command, servers, want string }{
		"the only one":             {"./start", "a.py", "a.py"},
		"one of which none is it":  {"./start", "a.py b.py", "a.py b.py ?"},
		"the app's own, not tools": {"./start", "a.py examples/b.py", "a.py"},
		"tools alone":              {"./start", "examples/b.py", "examples/b.py"},
		"tools that are named":     {"python examples/b.py", "a.py examples/b.py", "examples/b.py"},

		"a source":                     {"python a.py", "a.py b.py", "a.py"},
		"a folder":                     {"./orders", "cmd/orders/main.go cmd/users/main.go", "cmd/orders/main.go"},
		"a folder further up":          {"./orders", "orders/src/main.rs users/src/main.rs", "orders/src/main.rs"},
		"a folder and a source":        {"cd orders && python a.py", "orders/a.py users/a.py", "orders/a.py"},
		"a source before a folder":     {"./run orders a", "orders/main.go users/a.go", "users/a.go"},
		"the folder of all sources":    {"cd src && python a.py", "src/a.py lib/a.py", "lib/a.py src/a.py ?"},
		"a source of the same name":    {"python orders/a.py", "orders/a.py users/a.py", "orders/a.py users/a.py ?"},
		"a program":                    {"bin/a", "src/a.rs src/b.rs", "src/a.rs"},
		"what is compiled to a script": {"node dist/a.js", "src/a.ts src/b.ts", "src/a.ts"},
		"an archive":                   {"java -jar target/a.jar", "src/a.java src/b.java", "src/a.java"},
		"an assembly of a file":        {"dotnet a.dll", "src/a.cs src/b.cs", "src/a.cs"},
		"an assembly of a folder":      {"dotnet Orders.dll", "Orders/P.cs Users/P.cs", "Orders/P.cs"},
		"a module":                     {"python -m app.a", "app/a.py app/b.py", "app/a.py"},
		"a class":                      {"java com.a.A", "src/com/a/A.java src/com/a/B.java", "src/com/a/A.java"},
		"a class of another package":   {"java com.b.A", "src/com/a/A.java src/com/b/A.java", "src/com/b/A.java"},
		"a file of Kotlin":             {"java com.a.AKt", "src/com/a/A.kt src/com/a/B.kt", "src/com/a/A.kt"},
		"a file of no package":         {"java AKt", "src/A.kt src/B.kt", "src/A.kt"},

		"scripts, no other language":       {"node x.js", "a.cts a.go a.jar a.mjs", "a.cts a.mjs ?"},
		"other scripts":                    {"node x.cjs", "a.cjs a.mts a.py", "a.cjs a.mts ?"},
		"modules of scripts":               {"node x.mjs", "a.js a.py", "a.js"},
		"typed scripts":                    {"tsx x.mts", "a.ts a.py", "a.ts"},
		"typed scripts of CommonJS":        {"tsx x.cts", "a.ts a.py", "a.ts"},
		"sources of an archive":            {"java -jar x.jar", "a.java a.py", "a.java"},
		"sources of an archive in Kotlin":  {"java -jar x.jar", "a.kt a.py", "a.kt"},
		"sources of an archive in Scala":   {"java -jar x.jar", "a.py a.scala", "a.scala"},
		"classes of an archive":            {"java -jar x.jar", "a.class a.py", "a.class"},
		"sources of an archive of the web": {"java -jar x.war", "a.java a.py", "a.java"},
		"sources of an assembly":           {"dotnet x.dll", "a.cs a.py", "a.cs"},
		"sources of an assembly in F#":     {"dotnet x.dll", "a.fs a.py", "a.fs"},
		"sources of an assembly in VB":     {"dotnet x.dll", "a.py a.vb", "a.vb"},
		"modules of a script of Elixir":    {"elixir x.exs", "a.ex a.py", "a.ex"},
		"a script of another language":     {"python x.py", "a.go a.rb", ""},
		"a program of any language":        {"./x", "a.go a.py", "a.go a.py ?"},
	} {
		var files []File[struct{}]
		for path := range strings.FieldsSeq(test.servers) {
			files = append(files, file(path, constructed))
		}
		ps := processesOf(procfile.Started([]byte("web: "+test.command)), Projects(files, FileIsPackage))
		got := slices.Sorted(maps.Keys(ps.started))
		if ps.IsDoubtful {
			got = append(got, "?")
		}
		if got := strings.Join(got, " "); got != test.want {
			t.Errorf("%s: %s starts %q of %s, want %q", name, test.command, got, test.servers, test.want)
		}
	}
}
