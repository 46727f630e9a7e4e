package syntax

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"
)

// scopes resolves the names of a file to their declarations.
type scopes struct {
	locals map[*ast.Ident]*Declaration
	// visible are the declarations that can be seen where the walk is. After the walk they are those of the package.
	visible map[string]*Declaration
	hidden  []hidden // what the scopes that are open replaced in visible
	opened  int      // how many scopes were opened
	scope   int      // the innermost one, by when it was opened
	blocks  []blockStart
	block   block
	literal *literal // the innermost function literal that is open, or nil
}

// hidden is a declaration that another one of its name hides; nil if there is none.
type hidden struct {
	name   string
	before *Declaration
}

// block is the part of a file in which statements follow each other.
type block struct {
	from, to token.Pos
	isBody   bool     // of a function
	literal  *literal // the innermost one around it, or nil
}

// literal is the body of a function literal, and the one around it or nil.
type literal struct {
	from, to token.Pos
	outer    *literal
}

// blockStart is a position from which on a block is the innermost one.
type blockStart struct {
	at token.Pos
	block
}

func newScopes(file *ast.File) *scopes {
	s := &scopes{locals: map[*ast.Ident]*Declaration{}, visible: map[string]*Declaration{}}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				s.declareGlobal(d, d.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					s.declareGlobal(spec, spec.Names...)
				case *ast.TypeSpec:
					s.declareGlobal(spec, spec.Name)
				}
			}
		}
	}
	for _, d := range file.Decls {
		s.walkDecl(d)
	}
	slices.SortStableFunc(s.blocks, func(a, b blockStart) int { return cmp.Compare(a.at, b.at) })
	return s
}

func (s *scopes) blockAt(pos token.Pos) block {
	i, found := slices.BinarySearchFunc(s.blocks, pos, func(b blockStart, pos token.Pos) int {
		return cmp.Compare(b.at, pos)
	})
	if found {
		return s.blocks[i].block
	}
	if i == 0 {
		return block{}
	}
	return s.blocks[i-1].block
}

func (s *scopes) declareGlobal(node ast.Node, names ...*ast.Ident) {
	for _, name := range names {
		s.visible[name.Name] = &Declaration{Name: name, Node: node}
	}
}

// declare declares a name in the innermost scope.
func (s *scopes) declare(name *ast.Ident, node ast.Node) {
	if name.Name == "_" {
		return
	}
	s.hidden = append(s.hidden, hidden{name.Name, s.visible[name.Name]})
	d := &Declaration{Name: name, Node: node, Local: true, scope: s.scope}
	s.visible[name.Name], s.locals[name] = d, d
}

// open opens a scope, and returns the function that closes it.
func (s *scopes) open() func() {
	scope, outside := s.scope, len(s.hidden)
	s.opened++
	s.scope = s.opened
	return func() {
		for _, h := range slices.Backward(s.hidden[outside:]) {
			s.visible[h.name] = h.before
		}
		s.hidden, s.scope = s.hidden[:outside], scope
	}
}

// isInScope reports whether the innermost scope declares a name.
func (s *scopes) isInScope(name *ast.Ident) bool {
	d := s.visible[name.Name]
	return d != nil && d.Local && d.scope == s.scope
}

// walkBlock walks the statements of a block.
func (s *scopes) walkBlock(b block, statements []ast.Stmt) {
	outer := s.block
	b.literal = s.literal
	s.block = b
	s.blocks = append(s.blocks, blockStart{b.from, b})
	walkAll(s, statements)
	s.block = outer
	s.blocks = append(s.blocks, blockStart{b.to, outer})
}

// walk resolves the names in a node.
func (s *scopes) walk(n ast.Node) {
	if n != nil {
		ast.Walk(s, n)
	}
}

func walkAll[N ast.Node](s *scopes, nodes []N) {
	for _, n := range nodes {
		s.walk(n)
	}
}
