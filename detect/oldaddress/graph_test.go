package address

import (
	"testing"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// stated returns the declaration of a name with a port on a line of file "a".
func stated(name string, port, line int) Declaration {
	return Declaration{name, Value{Address: At(port, plan.Place{Path: "a", Line: line})}}
}

func open(name string, names ...string) Declaration {
	d := Declaration{Name: name}
	for _, n := range names {
		d.Names = append(d.Names, Name{Path: n})
	}
	return d
}

func TestListenersGetTheOnlyPortOfTheirNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		declared []Declaration
		want     int
	}{
		"none":         {nil, 0},
		"one":          {[]Declaration{stated("PORT", 50051, 3)}, 50051},
		"twice":        {[]Declaration{stated("PORT", 50051, 3), stated("PORT", 50051, 7)}, 50051},
		"two":          {[]Declaration{stated("PORT", 50051, 3), stated("PORT", 50052, 4)}, 0},
		"without port": {[]Declaration{stated("PORT", 50051, 3), open("PORT")}, 0},
		"with host":    {[]Declaration{stated("PORT", 50051, 3), open("HOST")}, 50051},
		"with a host from outside": {
			[]Declaration{stated("PORT", 50051, 3), {"HOST", Value{Outside: true}}}, 50051,
		},
		"followed":    {[]Declaration{open("PORT", ".port"), stated(".port", 50051, 3)}, 50051},
		"in a circle": {[]Declaration{open("PORT", ".port"), open(".port", "PORT")}, 0},
	} {
		g := NewGraph()
		g.Add(".", "a", c.declared)
		got := g.Resolve(open("", "HOST", "PORT").Value, Asker{Project: ".", File: "b"})
		if got.Local() != c.want || c.want > 0 && got.Place != (plan.Place{Path: "a", Line: 3}) {
			t.Errorf("%s: port %d at %s, want %d", name, got.Local(), got.Place, c.want)
		}
	}
}

func TestFieldsOfOtherProjectsAreNotSeen(t *testing.T) {
	t.Parallel()
	g := NewGraph()
	g.Add("b", "b/x", []Declaration{stated(".port", 9090, 1), stated(".Port", 50051, 1)})
	for name, want := range map[string]int{".port": 0, ".Port": 50051} {
		if got := g.Resolve(open("", name).Value, Asker{Project: "a", File: "a/x"}).Local(); got != want {
			t.Errorf("%s: port %d, want %d", name, got, want)
		}
	}
}

// What goes before a default decides; a default counts if the environment or the command line gives what goes before.
func TestDefaultsCountForWhatComesFromOutside(t *testing.T) {
	t.Parallel()
	fallback := open("", "settings.port").Value
	fallback.Port = 8080
	for name, c := range map[string]struct {
		declared []Declaration
		want     Address
	}{
		"nothing known": {nil, Address{}},
		"known":         {[]Declaration{stated("settings.port", 50051, 3)}, Address{Port: 50051, Certainty: Written}},
		"from outside": {
			[]Declaration{{"settings.port", Value{Outside: true}}}, Address{Port: 8080, Certainty: Default},
		},
	} {
		g := NewGraph()
		g.Add(".", "a", c.declared)
		got := g.Resolve(fallback, Asker{Project: ".", File: "b"})
		if got.Local() != c.want.Local() || got.Certainty != c.want.Certainty {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// imported returns the value of something that has the names of modules, given in pairs: module, path.
func imported(names ...string) Value {
	var v Value
	for i := 0; i < len(names); i += 2 {
		v.Names = append(v.Names, Name{names[i], names[i+1]})
	}
	return v
}

func TestNamesOfModulesLeadToTheirFiles(t *testing.T) {
	t.Parallel()
	g := NewGraph()
	g.Module = func(from, module string) string {
		if from == "main" || from == "index" {
			return module
		}
		return ""
	}
	g.Add(".", "config", []Declaration{
		stated("default.port", 50051, 3), {"", imported(ThisFile, "default")}, {"alias", imported(ThisFile, "default")},
	})
	g.Add(".", "index", []Declaration{{"", imported(ThisFile, "default", "config", "")}})
	g.Add(".", "circle", []Declaration{{"port", imported(ThisFile, "port")}, {"all", imported(ThisFile, "all.all")}})
	g.Add(".", "other", []Declaration{stated("port", 50052, 1), stated(".[key]", 50053, 2)})
	for name, c := range map[string]struct {
		value Value
		want  int
	}{
		"declared":                       {imported("config", "default.port"), 50051},
		"a part of the module":           {imported("config", "port"), 50051},
		"a part of a name":               {imported("config", "alias.port"), 50051},
		"of a module that exports it":    {imported("index", "port"), 50051},
		"of no module":                   {imported("none", "port"), 0},
		"not declared there":             {imported("config", "host"), 0},
		"in a circle":                    {imported("circle", "port"), 0},
		"in a circle of parts":           {imported("circle", "all.port"), 0},
		"of two modules":                 {imported("config", "port", "other", "port"), 0},
		"of a module before the project": {imported("config", "port", "", ".[key]"), 50051},
		"of the project then":            {imported("none", "port", "", ".[key]"), 50053},
	} {
		if got := g.Resolve(c.value, Asker{Project: ".", File: "main"}); got.Local() != c.want {
			t.Errorf("%s: port %d, want %d", name, got.Local(), c.want)
		}
	}
	if got := g.Resolve(imported("config", "port"), Asker{Project: ".", File: "elsewhere"}).Local(); got != 0 {
		t.Errorf("a file that imports no module got port %d", got)
	}
}

// However many names refer to one another, the work is bounded.
func TestWorkOnNamesIsBounded(t *testing.T) {
	t.Parallel()
	g := NewGraph()
	var declared []Declaration
	for i := range 1000 {
		n := string(rune('a'+i%26)) + string(rune('a'+i/26))
		declared = append(declared, open(n, string(rune('a'+(i+1)%26))+string(rune('a'+(i+1)/26))))
	}
	g.Add(".", "a", declared)
	before := g.left
	g.Resolve(open("", "aa").Value, Asker{Project: ".", File: "b"})
	if used := before - g.left; used > maxLookups {
		t.Errorf("one address took %d lookups", used)
	}
}
