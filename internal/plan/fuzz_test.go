package plan

import "testing"

func FuzzPlace(f *testing.F) {
	f.Add("cmd/main.go", 4)
	f.Add("a:3", 0)
	f.Add("7", 0)
	f.Fuzz(func(t *testing.T, path string, line int) {
		if len(path) > 1000 || line < 0 {
			return
		}
		p := Place{path, line}
		if back := parsePlace(p.String()); back != p {
			t.Errorf("%+v came back as %+v from %s", p, back, p)
		}
	})
}
