package syntax

import (
	"go/ast"
	"strings"
	"testing"
)

// Each use of a name is written with the line of its declaration after it: x_3 means the x of line 3. A name without a
// number is declared in no place of the file.
const scoped = `package a
import "x"
var x, y = 1, y_3
const c = y_3
type t struct{ x y_3; t *t_5 }
func (t t_5) f(x x.T, y x.T) (z x.T) {
	_ = t{x: x_6, y: y_6}
	x_6, v := f_21()
	if x := x_6; x_9 > v_8 {
		v := v_8
		_ = v_10
	} else if z_6 = x_9; true {
		x_9 = c_4
	}
	for i, y := range y_6 { _ = i_15 + y_15 }
	for i := 0; i_16 < x_6; i_16++ { i := i_16; _ = i_16 }
	switch x := x_6.(type) { case t_6: x := x_17; _ = x_17; default: _ = x_17 }
	select { case v := <-v_8: _ = v_18; case v_8 = <-v_8: }
	func(v t_6) { var z, c = z_6, c_4; _ = v_19 + z_19 + c_19; type t t_19 }(v_8)
x: for { break x }; return t_6.x + i }
func f[T t_5, U []T_21](p U_21) { var _ = c_4; { const c = p_21; _ = c_21 }; _ = c_4; _ = fmt.x }
`

func TestNamesMeanTheirInnermostDeclaration(t *testing.T) {
	text, want := unmarked(scoped)
	f, err := Parse([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	ast.Inspect(f.File, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		at := f.Span(name).From
		line, marked := want[at]
		if !marked {
			return true
		}
		checked++
		if d := f.Declaration(name); d == nil || f.Line(d.Name) != line {
			t.Errorf("line %d: %s means %v, want that of line %d", f.Line(name), name.Name, d, line)
		}
		return true
	})
	if checked != len(want) || checked < 40 {
		t.Errorf("%d of %d names were checked", checked, len(want))
	}
}

// unmarked returns a text without the marks, and the lines that they name by the offsets of their names.
func unmarked(marked string) (string, map[int]int) {
	var text strings.Builder
	lines := map[int]int{}
	for len(marked) > 0 {
		word := strings.IndexFunc(marked, func(c rune) bool { return !isWord(c) })
		if word <= 0 {
			text.WriteByte(marked[0])
			marked = marked[1:]
			continue
		}
		name, number, hasMark := strings.Cut(marked[:word], "_")
		if !hasMark || name == "" {
			name = marked[:word]
		} else {
			line := 0
			for _, digit := range number {
				line = line*10 + int(digit-'0')
			}
			lines[text.Len()] = line
		}
		text.WriteString(name)
		marked = marked[word:]
	}
	return text.String(), lines
}

func isWord(c rune) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func TestPathOfIsEmptyForWhatTheFileDeclares(t *testing.T) {
	f, err := Parse([]byte("package a\nimport (\"p/x\"; \"p/y\"; \"p/z\")\nvar z = x.F\n"+
		"func f(y int) { _ = y.F; _ = z.F; _ = w.F }\nvar _ = y.F\n"), 0)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	ast.Inspect(f.File, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			paths = append(paths, f.PathOf(s))
		}
		return true
	})
	if got := strings.Join(paths, ","); got != "p/x,,,,p/y" {
		t.Errorf("the import paths are %q", got)
	}
}

func TestBlockTellsWhatIsAlwaysExecutedBefore(t *testing.T) {
	const text = `package a
func f() {
	first()
	if second() { third(); func() { fourth() }() }
	switch { case true: fifth(); sixth() }
	last()
}
`
	f, err := Parse([]byte(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]*ast.CallExpr{}
	ast.Inspect(f.File, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			calls[Name(call.Fun)] = call
		}
		return true
	})
	for _, c := range []struct {
		first, then string
		want        bool
	}{
		{"first", "last", true},
		{"first", "fourth", true},
		{"second", "last", true},
		{"third", "fourth", true},
		{"fifth", "sixth", true},
		{"third", "last", false},
		{"fourth", "last", false},
		{"fifth", "last", false},
		{"last", "first", false},
	} {
		if got := f.AlwaysBefore(calls[c.first].Pos(), calls[c.then].Pos()); got != c.want {
			t.Errorf("%s is always executed before %s: %v", c.first, c.then, got)
		}
	}
	for name, want := range map[string]bool{"first": true, "fourth": true, "third": false, "sixth": false} {
		if got := f.InFunctionBody(calls[name].Pos()); got != want {
			t.Errorf("%s is in the body of its function: %v", name, got)
		}
	}
}
