package values

import (
	"cmp"
	"go/ast"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
)

// originsOfField returns what a field gets: in the composite literals that the struct comes from or, if these are
// not known, in all of its type; by assignments; by the default in its tag; and by a setting of its key. It reports
// whether these are all: of a type that the app does not declare, others may set the fields.
func (s *Sources) originsOfField(x expression, field *ast.SelectorExpr, nesting int) ([]expression, bool) {
	holder, name := x.with(field.X), field.Sel.Name
	if s.spend(nesting) {
		return nil, false
	}
	t := s.typeOf(holder, nesting+1)
	of := s.symbolOf(t)
	made := s.literalsOf(holder, nesting+1)
	if len(made.found) == 0 && of.name != "" && len(s.literals[of]) <= maxOrigins {
		made.found = s.ofProgram(s.literals[of])
	}
	var from []expression
	for _, literal := range made.found {
		if value := s.element(literal, name); value.Expr != nil {
			value.gets = alternatively
			from = append(from, value)
		}
	}
	if made.isFilled && len(from) > 0 {
		from = append(from, expression{constant: &value{at: x.place()}, gets: alternatively})
	}
	if t.Expr == nil {
		return from, len(from) > 0
	}
	key := s.settingKey(x, nesting+1)
	declared, in := s.fieldOf(t, name, 0)
	setting := s.settingOfField(t, key)
	variable := cmp.Or(s.tagVariable(holder, t, declared, name), s.boundVariable(key, in))
	if declared != nil && (s.isTagged(t) || holdsSettings.MatchString(of.name)) {
		for i := range from {
			from[i].setting = cmp.Or(variable, setting)
		}
	}
	if slices.ContainsFunc(from, isComputed) {
		key = "" // the app fills the struct itself
	} else if set := s.loadedFor(key, x.in.dir); set != nil {
		if flag, ok := s.givenFlag(key, x.in.dir, nesting); ok {
			return []expression{{constant: &flag}}, true
		}
		return unlessSet(set, variable), true
	}
	assigned, isLeftOut := s.assignedTo(holder, t, name, nesting)
	from = x.ofApp(append(from, orSet(assigned, declared, cmp.Or(variable, setting))...))
	if declared != nil {
		from = append(from, tagged(in, declared, variable)...)
	}
	for _, byDefault := range s.defaultsFor(key, x.in.dir) {
		byDefault.setting = cmp.Or(variable, byDefault.setting)
		from = append(from, byDefault)
	}
	if s.bound.allFlags {
		from = append(from, s.boundFlags(key, x.in.dir)...)
	}
	if len(from) > 0 || declared == nil {
		return from, len(from) > 0
	}
	if isLeftOut {
		return []expression{zero(declared, in)}, true
	}
	return s.originsOfUnset(x, field, t, setting, nesting)
}

// orSet returns what the app assigns to a field, which a setting may replace if the field has a tag for that.
func orSet(assigned []expression, declared *ast.Field, setting string) []expression {
	if declared == nil || !hasSettingTag(declared) {
		return assigned
	}
	for i := range assigned {
		assigned[i].setting = cmp.Or(assigned[i].setting, setting)
	}
	return assigned
}

// originsOfUnset is originsOfField for a field that the sources give nothing: that of a struct which is embedded, or
// one that a setting fills when the app runs.
func (s *Sources) originsOfUnset(
	x expression, field *ast.SelectorExpr, t typeOfApp, setting string, nesting int,
) ([]expression, bool) {
	if full := s.promoted(x, field, t, nesting); full.Expr != nil {
		return s.origins(full, nesting+1)
	}
	v := unset(setting, x.place())
	return []expression{{constant: &v}}, true
}

// boundFlags returns the defaults of the flags of a key, as a directory sees them, that viper reads settings from: the
// environment goes before these, unless a command line gives the flag.
func (s *Sources) boundFlags(key, dir string) []expression {
	var from []expression
	for _, flag := range nearest(s.ofProgram(s.flags[key]), dir) {
		_, isGiven := s.given(flag.setting, flag.in)
		variable := s.settingOrVariable(key, flag.in.dir)
		if !isGiven && strings.HasPrefix(variable, "$") {
			flag.setting = variable
		}
		from = append(from, flag)
	}
	return from
}

// isComputed reports whether a value is not written where a field gets it.
func isComputed(x expression) bool {
	_, isLiteral := ast.Unparen(x.Expr).(*ast.BasicLit)
	return !isLiteral
}

// element returns the value of a field in a composite literal, or an expression without one.
func (s *Sources) element(of expression, name string) expression {
	literal, ok := of.Expr.(*ast.CompositeLit)
	if !ok || len(literal.Elts) == 0 || len(literal.Elts) > maxElements {
		return expression{}
	}
	if _, hasKeys := literal.Elts[0].(*ast.KeyValueExpr); hasKeys {
		return of.with(syntax.Element(literal, name))
	}
	fields, _ := s.structOf(typeOfApp{literal.Type, of.in})
	if fields == nil {
		return expression{}
	}
	if at := fieldIndex(fields.Fields, name); at >= 0 && at < len(literal.Elts) {
		return of.with(literal.Elts[at])
	}
	return expression{}
}

// fieldIndex returns the position of a field in a struct, or -1.
func fieldIndex(fields *ast.FieldList, name string) int {
	at := 0
	for _, field := range fields.List {
		if at > maxElements {
			break
		}
		if len(field.Names) == 0 {
			if syntax.LastName(field.Type) == name {
				return at
			}
			at++
		}
		for _, n := range field.Names {
			if n.Name == name {
				return at
			}
			at++
		}
	}
	return -1
}

// assignedTo returns what the fields of a name get that belong to a struct of a type, by assignments. Of two structs of
// a type in another struct only the one counts that has the same name there. It reports whether options would set a
// field that the app never gives.
func (s *Sources) assignedTo(
	holder expression, of typeOfApp, name string, nesting int,
) (from []expression, isLeftOut bool) {
	fields, _ := s.structOf(of)
	var names []string
	if len(s.fields[name]) > 0 {
		names = s.fieldNames(holder, nesting)
	}
	for _, a := range s.fields[name] {
		if s.evaluated > maxEvaluated {
			return nil, false
		}
		if s.within != nil && !s.within(a.value.in.dir) {
			continue
		}
		to := expression{Expr: a.field.X, in: a.value.in}
		outer, isField := a.field.X.(*ast.SelectorExpr)
		if isField && names != nil && !slices.Contains(names, outer.Sel.Name) {
			continue
		}
		if of, _ := s.structOf(s.typeOf(to, nesting+1)); of != nil && of == fields {
			value, isGiven := s.byOption(a)
			if isGiven {
				from = append(from, value)
			}
			isLeftOut = isLeftOut || !isGiven
		}
	}
	return from, isLeftOut
}

// fieldNames returns the names of the fields that a value comes from, if it is a field: that of its own and, if this is
// one for all settings, those of the fields that were handed on to it. It is nil for other values.
func (s *Sources) fieldNames(x expression, nesting int) []string {
	var names []string
	for range maxHandedOn {
		field, isField := ast.Unparen(x.Expr).(*ast.SelectorExpr)
		if isField {
			names = append(names, field.Sel.Name)
		}
		if names == nil || isField && !holdsSettings.MatchString(field.Sel.Name) {
			break
		}
		if x = s.onlyOrigin(x, nesting+1); x.Expr == nil {
			break
		}
	}
	return names
}

// maxHandedOn is how many variables, fields and parameters a struct is followed through.
const maxHandedOn = 8

// onlyOrigin returns the one expression that the value of an expression comes from, or one without an expression.
func (s *Sources) onlyOrigin(x expression, nesting int) expression {
	origins, ok := s.origins(x, nesting)
	if !ok || len(origins) != 1 {
		return expression{}
	}
	return origins[0]
}

// promoted returns a field of a struct that is embedded in the type of the struct whose field is asked for, by its full
// name: config.Server.Port for config.Port. It has no expression for a field of the type itself.
func (s *Sources) promoted(x expression, field *ast.SelectorExpr, of typeOfApp, nesting int) expression {
	fields, in := s.structOf(of)
	if fields == nil || len(fields.Fields.List) > maxElements || fieldIndex(fields.Fields, field.Sel.Name) >= 0 {
		return expression{}
	}
	for _, embedded := range fields.Fields.List {
		if len(embedded.Names) > 0 {
			continue
		}
		if found, _ := s.fieldOf(typeOfApp{embedded.Type, in}, field.Sel.Name, nesting+1); found != nil {
			name := &ast.Ident{NamePos: field.Sel.Pos(), Name: syntax.LastName(embedded.Type)}
			return x.with(&ast.SelectorExpr{X: &ast.SelectorExpr{X: field.X, Sel: name}, Sel: field.Sel})
		}
	}
	return expression{}
}

// composites returns the composite literals that the value of an expression comes from.
func (s *Sources) composites(x expression, nesting int) []expression {
	return s.literalsOf(x, nesting).found
}

// literals are the composite literals that a value comes from.
type literals struct {
	found []expression
	// isFilled says that it may be a variable that is declared without a value, and filled by others; isOpen that it
	// may come from something that is not known.
	isFilled, isOpen bool
	unknown          []expression // what it may come from and is not known
}

// literalsOf returns the composite literals that the value of an expression comes from.
func (s *Sources) literalsOf(x expression, nesting int) literals {
	if x.constant != nil {
		return literals{unknown: []expression{x}}
	}
	if s.spend(nesting) {
		return literals{isOpen: true}
	}
	switch e := ast.Unparen(x.Expr).(type) {
	case *ast.CompositeLit:
		return literals{found: []expression{x.with(e)}}
	case *ast.Ident:
		if e.Name == "nil" && x.in.Declaration(e) == nil {
			return literals{} // it has no fields, and no methods that can be called
		}
	}
	origins, ok := s.origins(x, nesting)
	of := literals{isOpen: !ok, isFilled: ok && len(origins) == 0 && x.isVariable()}
	if !ok {
		of.unknown = []expression{x}
	}
	for _, from := range origins {
		more := s.literalsOf(from, nesting+1)
		of.isFilled, of.isOpen = of.isFilled || more.isFilled, of.isOpen || more.isOpen
		of.unknown = append(of.unknown, more.unknown...)
		if of.found = append(of.found, more.found...); len(of.found) > maxValues {
			break
		}
	}
	return of
}

// isVariable reports whether an expression is a variable of a function that is declared by var.
func (x expression) isVariable() bool {
	_, ok := x.declaredBy().(*ast.ValueSpec)
	return ok
}

// declaredBy returns what declares a variable or a parameter of a function; nil for another expression.
func (x expression) declaredBy() ast.Node {
	name, ok := ast.Unparen(x.Expr).(*ast.Ident)
	if !ok {
		return nil
	}
	if local := x.in.Local(name); local != nil {
		return local.Node
	}
	return nil
}

// unlessSet returns values of settings files that an environment variable replaces, if there is one.
func unlessSet(loaded []expression, variable string) []expression {
	found := slices.Clone(loaded)
	for i, x := range found {
		of := *x.constant
		of.setting = cmp.Or(variable, of.setting)
		found[i].constant = &of
	}
	return found
}

// settingOf returns the values of the setting of a key, as a directory sees it. Those in files go before defaults.
func (s *Sources) settingOf(key, dir string) []expression {
	if found := s.loadedFor(key, dir); found != nil {
		return found
	}
	return s.defaultsFor(key, dir)
}
