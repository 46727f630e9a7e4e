package analyzer

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

func TestListenersGetTheOnlyPortOfTheirNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		constants []Constant
		want      int
	}{
		"none":         {nil, address.UnknownPort},
		"one":          {[]Constant{{Name: "PORT", Port: 50051, Line: 3}}, 50051},
		"twice":        {[]Constant{{Name: "PORT", Port: 50051, Line: 3}, {Name: "PORT", Port: 50051, Line: 7}}, 50051},
		"two":          {[]Constant{{Name: "PORT", Port: 50051}, {Name: "PORT", Port: 50052}}, address.UnknownPort},
		"without port": {[]Constant{{Name: "PORT", Port: 50051}, {Name: "PORT", Port: -1}}, address.UnknownPort},
		"with host":    {[]Constant{{Name: "PORT", Port: 50051, Line: 3}, {Name: "HOST", Port: -1}}, 50051},
		"followed": {
			[]Constant{
				{Name: "PORT", Port: -1, Names: []string{".port"}},
				{Name: ".port", Port: 50051, Line: 3},
			},
			50051,
		},
		"in a circle": {
			[]Constant{
				{Name: "PORT", Port: -1, Names: []string{".port"}},
				{Name: ".port", Port: -1, Names: []string{"PORT"}},
			},
			address.UnknownPort,
		},
	} {
		open := Finding{Kind: Listener, Port: address.UnknownPort, ImportPath: "HOST PORT"}
		projects := Projects([]File[[]Constant]{
			{Path: "a", Result: Result[[]Constant]{Extra: c.constants}},
			{Path: "b", Result: Result[[]Constant]{Findings: []Finding{open}}},
		}, FileIsPackage)
		ResolveListeners(projects, func(f File[[]Constant]) []Constant { return f.Extra })
		got := projects[0].Package("b").Findings[0]
		if got.Port != c.want || c.want > 0 && got.Place != (plan.Place{Path: "a", Line: 3}) {
			t.Errorf("%s: port %d at %s, want %d", name, got.Port, got.Place, c.want)
		}
	}
}

func TestFieldsOfOtherProjectsAreNotSeen(t *testing.T) {
	t.Parallel()
	open := func(name string) File[[]Constant] {
		f := Finding{Kind: Listener, Port: address.UnknownPort, ImportPath: name}
		return File[[]Constant]{Path: "a/" + name, Result: Result[[]Constant]{Findings: []Finding{f}}}
	}
	constants := []Constant{{Name: ".port", Port: 9090}, {Name: ".Port", Port: 50051}}
	projects := Projects([]File[[]Constant]{
		{Path: "a/x.toml", Result: Result[[]Constant]{ProjectRoot: true}},
		open(".port"), open(".Port"),
		{Path: "b/x.toml", Result: Result[[]Constant]{ProjectRoot: true, Extra: constants}},
	}, FileIsPackage)
	ResolveListeners(projects, func(f File[[]Constant]) []Constant { return f.Extra })
	for name, want := range map[string]int{".port": address.UnknownPort, ".Port": 50051} {
		if got := projects[1].Package("a/" + name).Findings[0].Port; got != want {
			t.Errorf("%s: port %d, want %d", name, got, want)
		}
	}
}

func TestFilesOfBazelsTestsAreLeftOut(t *testing.T) {
	t.Parallel()
	files := []File[[]string]{
		{Path: "a/BUILD", Result: Result[[]string]{Extra: []string{"fake_*.cc"}}},
		{Path: "a/fake_server.cc"},
		{Path: "a/server.cc"},
		{Path: "b/fake_server.cc"},
	}
	left := DropBazelTests(files, func(f File[[]string]) []string { return f.Extra })
	if len(left) != 3 || left[1].Path != "a/server.cc" {
		t.Errorf("left are %v", left)
	}
}
