package golang

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"sync"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// directory is the non-test Go files of a directory, under any build constraint. The value of a name of the package is
// unknown if any file may change the value.
type directory struct {
	mu    sync.Mutex
	files []*pass
	// assigned has the variables and fields (see variable) that a file assigns, takes a pointer of, or has as a key.
	assigned map[any]bool
	fields   map[string][]address.Address // the defaults in the tags of fields, by struct and field
}

// maxSiblings bounds the names in a directory. The files together may have as many bytes as a single source.
const maxSiblings = 256

// readDirectory reads the files in the directory of a file, and none if too many or too long.
func readDirectory(f *tree.File) *directory {
	d, size := &directory{assigned: map[any]bool{}, fields: map[string][]address.Address{}}, 0
	for _, name := range f.Siblings(maxSiblings) {
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".pb.go") {
			continue
		}
		sibling := f.Sibling(name)
		text, err := sibling.Text()
		sibling.Close()
		if size += len(text); err != nil || size > tree.MaxSource {
			return &directory{}
		}
		if file, err := syntax.Parse(text, parser.Mode(0)); err == nil {
			p := &pass{wiring: newWiring(file), source: sibling, text: grammar.Read(text), isBeside: true}
			d.files = append(d.files, p)
			ast.Inspect(file.File, func(n ast.Node) bool {
				p.read(n)
				d.read(p, n)
				return true
			})
		}
	}
	return d
}

// read keeps the facts of a node about the variables and fields of the package.
func (d *directory) read(p *pass, n ast.Node) {
	switch n := n.(type) {
	case *ast.AssignStmt:
		for _, to := range n.Lhs {
			if pointer, ok := to.(*ast.StarExpr); ok {
				to = pointer.X
			}
			d.assigned[variable(to)] = true
		}
	case *ast.IncDecStmt:
		d.assigned[variable(n.X)] = true
	case *ast.UnaryExpr:
		d.assigned[variable(n.X)] = d.assigned[variable(n.X)] || n.Op == token.AND
	case *ast.KeyValueExpr:
		d.assigned["."+syntax.Name(n.Key)] = true
	case *ast.TypeSpec:
		if of, ok := n.Type.(*ast.StructType); ok {
			for _, field := range of.Fields.List {
				for _, name := range field.Names {
					key := n.Name.Name + "." + name.Name
					d.fields[key] = append(d.fields[key], p.tagDefault(field))
				}
			}
		}
	}
}

// tagDefault returns the default address in the tag of a field, in the form of kelseyhightower/envconfig, caarlos0/env
// and ilyakaznacheev/cleanenv.
func (p *pass) tagDefault(field *ast.Field) address.Address {
	if field.Tag == nil {
		return address.Address{}
	}
	text, _ := syntax.StringLiteral(field.Tag)
	tag := reflect.StructTag(text)
	a := address.Parse(cmp.Or(tag.Get("default"), tag.Get("envDefault"), tag.Get("env-default")))
	a.Place.Path, a.Place.Line = p.source.Path, p.file.Line(field)
	return address.ByDefault(a, "")
}

// elsewhere returns a function for the addresses of a name at an offset, from the rest of the package's files or from
// the tag of a field. A name declared within a function has no such address.
func (p *pass) elsewhere() func(name string, at int) []address.Address {
	names := map[int]ast.Expr{} // by offset, with fields
	ast.Inspect(p.file.File, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok && syntax.Name(e) != "" && names[p.file.Span(e).From] == nil {
			names[p.file.Span(e).From] = e
		}
		return true
	})
	return func(name string, at int) []address.Address {
		e := names[at]
		if e == nil || strings.ReplaceAll(syntax.Name(e), ".", "_") != name {
			return nil
		}
		d, _ := p.source.Shared(func() any { return readDirectory(p.source) }).(*directory)
		switch e := e.(type) {
		case *ast.SelectorExpr:
			if !d.assigned[variable(e)] {
				return d.fields[declaredType(e.X)+"."+e.Sel.Name]
			}
		case *ast.Ident:
			if e.Obj == nil || e.Obj == p.file.Scope.Lookup(name) {
				return d.addresses(name, p)
			}
		}
		return nil
	}
}

// declaredType returns the name of the declared type of a parameter, or of a variable without a value.
func declaredType(e ast.Expr) string {
	if name, ok := e.(*ast.Ident); ok {
		switch declared := syntax.Declaration(name).(type) {
		case *ast.Field:
			return typeName(declared.Type)
		case *ast.ValueSpec:
			return typeName(declared.Type)
		}
	}
	return ""
}

// addresses returns the addresses of a name in the rest of the package's files.
func (d *directory) addresses(name string, p *pass) []address.Address {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []address.Address
	if d.assigned[name] {
		all = append(all, address.Address{})
	}
	for _, f := range d.files {
		declared := f.file.Scope.Lookup(name)
		if declared == nil || f.source.Path == p.source.Path || f.file.Name.Name != p.file.Name.Name {
			continue
		}
		if declared.Kind == ast.Var || declared.Kind == ast.Con {
			a, _ := f.addressOf(&listener{address: &ast.Ident{Name: name, NamePos: declared.Pos(), Obj: declared}})
			a.Place.Path = f.source.Path
			all = append(all, a)
		}
	}
	return all
}
