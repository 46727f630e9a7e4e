package documents_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// message is an error or a hint.
type message struct {
	// isHint tells which of the two it is.
	isHint bool
	// Text has an ellipsis for each value that is put in when it is printed. An error may be printed within another
	// one.
	Text string
	// Position is that in the source: file, line and column.
	Position string
}

// Pattern returns a regular expression for the message as it is printed.
func (m message) Pattern() *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(m.Text), "…", ".*"))
}

// packageSays type-checks the package in a folder, its tests left out, with the go command, and returns its messages.
//
//   - An error is a constant that stands for the parameter text of errors.New, for a parameter format before variadic
//     arguments, as fmt.Errorf and fmt.Sprintf have it, for a parameter reason, or for a string in a struct that is an
//     error.
//   - A hint is a constant of type outcome.Hint, or the format of a fmt.Sprintf that is converted to it.
//   - A format or a hint that is no constant is an error of packageSays: its text would be missed.
func packageSays(folder string) ([]message, error) {
	packages, err := list(folder)
	if err != nil {
		return nil, err
	}
	r := reader{positions: token.NewFileSet()}
	var files []*ast.File
	for _, name := range packages[len(packages)-1].GoFiles {
		file, err := parser.ParseFile(r.positions, filepath.Join(folder, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	exports := map[string]string{}
	for _, p := range packages {
		exports[p.ImportPath] = p.Export
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	config := types.Config{Importer: importer.ForCompiler(r.positions, "gc", open)}
	r.info.Types = map[ast.Expr]types.TypeAndValue{}
	path := packages[len(packages)-1].ImportPath
	if _, err := config.Check(path, r.positions, files, &r.info); err != nil {
		return nil, fmt.Errorf("type-checking %q: %w", path, err)
	}
	for _, file := range files {
		ast.Inspect(file, r.inspect)
	}
	return r.found, errors.Join(r.errs...)
}

// silent are the names of packages that have no messages of their own: that of the program prints those of others, and
// options are checked elsewhere.
var silent = []string{"probe", "options"}

// probeSays returns the messages of all packages below a folder, without what is only for tests and measurements.
func probeSays(folder string) (all []message, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		switch entry.Name() {
		case "testdata", "probetest", "bench":
			return filepath.SkipDir
		}
		found, err := packageSays(path)
		if err == nil && len(found) == 0 && !slices.Contains(silent, entry.Name()) {
			err = fmt.Errorf("reading the messages of %q: there are none", path)
		}
		all = append(all, found...)
		return err
	})
	return all, err
}

// listed is a package as go list prints it.
type listed struct {
	ImportPath, Export string
	GoFiles            []string
}

// list returns the package in a folder, after all that it imports.
func list(folder string) (packages []listed, err error) {
	command := exec.Command("go", "list", "-deps", "-export", "-json=ImportPath,Export,GoFiles", ".")
	command.Dir = folder
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the packages of %q: %w\n%s", folder, err, stderr.Bytes())
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var p listed
		if err := decoder.Decode(&p); err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
	return packages, nil
}

// reader gathers the messages of a package.
type reader struct {
	positions *token.FileSet
	info      types.Info
	found     []message
	errs      []error
}

func (r *reader) inspect(node ast.Node) bool {
	expr, ok := node.(ast.Expr)
	if !ok {
		return true
	}
	value := r.info.Types[expr]
	if isHint(value.Type) && value.Value != nil && !value.IsType() {
		r.add(true, expr, constant.StringVal(value.Value))
		return false // its parts are no messages of their own
	}
	switch expr := expr.(type) {
	case *ast.CallExpr:
		return r.inspectCall(expr)
	case *ast.CompositeLit:
		r.inspectStruct(expr)
	}
	return true
}

// inspectStruct adds the texts in a struct that is an error, such as the reason for which a call failed.
func (r *reader) inspectStruct(literal *ast.CompositeLit) {
	kind := r.info.Types[literal].Type
	if !isError(kind) && !isError(types.NewPointer(kind)) && !hasReason(kind) {
		return
	}
	for _, element := range literal.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			element = pair.Value
		}
		r.addParts(element)
	}
}

// addParts adds the constants that a text is put together from. What is no constant is found where it comes from.
func (r *reader) addParts(expr ast.Expr) {
	if sum, ok := expr.(*ast.BinaryExpr); ok && r.info.Types[sum].Value == nil {
		r.addParts(sum.X)
		r.addParts(sum.Y)
		return
	}
	part := r.info.Types[expr]
	if part.Value != nil && types.Identical(types.Default(part.Type), types.Typ[types.String]) {
		r.add(false, expr, constant.StringVal(part.Value))
	}
}

func isError(t types.Type) bool {
	return types.AssignableTo(t, types.Universe.Lookup("error").Type())
}

// hasReason reports whether a struct has a field reason.
func hasReason(t types.Type) bool {
	fields, ok := t.Underlying().(*types.Struct)
	for i := 0; ok && i < fields.NumFields(); i++ {
		if fields.Field(i).Name() == "reason" {
			return true
		}
	}
	return false
}

// inspectCall adds the texts that a function or a conversion is called with. It reports whether the arguments can have
// messages of their own.
func (r *reader) inspectCall(call *ast.CallExpr) bool {
	function := r.info.Types[call.Fun]
	if function.IsType() && isHint(function.Type) {
		if format, ok := sprintf(call.Args[0]); ok {
			r.addConstant(true, format)
		} else if constant := r.info.Types[call.Args[0]].Value; constant == nil {
			r.errs = append(r.errs,
				fmt.Errorf("%s: a hint is neither a constant nor fmt.Sprintf", r.positions.Position(call.Pos())))
		}
		return false
	}
	signature, ok := function.Type.(*types.Signature)
	if !ok {
		return true
	}
	for i := range signature.Params().Len() {
		name := signature.Params().At(i).Name()
		isNew := types.ExprString(call.Fun) == "errors.New"
		isFormat := name == "format" && signature.Variadic() && i == signature.Params().Len()-2
		if isNew || isFormat {
			r.addConstant(false, call.Args[i])
		} else if name == "reason" {
			r.addParts(call.Args[i])
		}
	}
	return true
}

// sprintf returns the format of a call of fmt.Sprintf.
func sprintf(expr ast.Expr) (format ast.Expr, ok bool) {
	call, ok := expr.(*ast.CallExpr)
	if !ok || types.ExprString(call.Fun) != "fmt.Sprintf" {
		return nil, false
	}
	return call.Args[0], true
}

// addConstant adds a text. One that is passed on is left to where it comes from, as the format of a function is.
func (r *reader) addConstant(isHint bool, expr ast.Expr) {
	if value := r.info.Types[expr].Value; value != nil {
		r.add(isHint, expr, constant.StringVal(value))
		return
	}
	if name, ok := expr.(*ast.Ident); ok && name.Name == "format" {
		return
	}
	if text := types.ExprString(expr); passedOn[text] == "" {
		r.errs = append(r.errs,
			fmt.Errorf("%s: the text %s of an error is not a constant", r.positions.Position(expr.Pos()), text))
	}
}

// passedOn are texts that are no constants, with where they come from.
var passedOn = map[string]string{
	"failed.Err":                     "package net, on addresses that it cannot split",
	`"checking flags: " + r.problem`: "the rules, whose formats are found themselves",
	`"server broke the HTTP/2 protocol: " + fmt.Sprintf(format, args...)`: "the calls of protocolError",
}

// verbs are what package fmt puts values in for.
var verbs = regexp.MustCompile(`%[#+]?[0-9.]*[a-zA-Z]`)

func (r *reader) add(isHint bool, expr ast.Expr, text string) {
	if text != "" {
		position := r.positions.Position(expr.Pos())
		r.found = append(r.found, message{isHint, verbs.ReplaceAllString(text, "…"), position.String()})
	}
}

func isHint(t types.Type) bool {
	named, ok := t.(*types.Named)
	return ok && named.Obj().Name() == "Hint" && strings.HasSuffix(named.Obj().Pkg().Path(), "/probe/check/outcome")
}
