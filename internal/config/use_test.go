package config_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/internal/config"
)

// Something reads each variable: its example changes a field of the Config that one of the phases uses, or the code of
// a phase names the variable; and a script that runs the buildpack sets it.
func TestEachVariableIsUsed(t *testing.T) {
	used := usedNames(t, "../../build", "../../detect")
	scripts := scriptsOf(t, "../../cmd/buildpack/testdata")
	unset := config.Read(nil)
	for _, variable := range config.Variables {
		t.Run(variable.Name, func(t *testing.T) {
			t.Setenv(variable.Name, variable.Example)
			set := config.Read(nil)
			if set.Err() != nil {
				t.Fatal(set.Err())
			}
			field := changed(unset, set)
			switch {
			case field == "" && !used["$"+variable.Name]:
				t.Errorf("nothing reads %s: neither Config nor a phase has its value", variable.Name)
			case field != "" && !used[field]:
				t.Errorf("nothing uses %s: no phase reads the field %s of Config", variable.Name, field)
			}
			if !strings.Contains(scripts, "env "+variable.Name+"=") {
				t.Errorf("no script in cmd/buildpack/testdata sets %s", variable.Name)
			}
		})
	}
}

// changed returns the exported field in which two Configs differ, "" for none.
func changed(a, b config.Config) string {
	for i, field := range reflect.VisibleFields(reflect.TypeFor[config.Config]()) {
		if field.IsExported() && !reflect.DeepEqual(reflect.ValueOf(a).Field(i).Interface(),
			reflect.ValueOf(b).Field(i).Interface()) {
			return field.Name
		}
	}
	return ""
}

// usedNames returns which fields the code below some folders reads of a Config, and, with a $ before them, the names of
// the variables that it hands to os.Getenv.
func usedNames(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	used := map[string]bool{}
	for _, folder := range folders {
		files, err := goFiles(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, declaration := range file.Decls {
				if function, ok := declaration.(*ast.FuncDecl); ok && function.Body != nil {
					addUses(function, used)
				}
			}
		}
	}
	return used
}

func goFiles(folder string) (names []string, err error) {
	err = filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") &&
			!strings.Contains(path, "testdata") {
			names = append(names, path)
		}
		return err
	})
	return names, err
}

// readers are the functions that return a Config first.
var readers = map[string]bool{"config.Read": true, "execprobe.ReadSettings": true}

// addUses adds what one function uses: of its parameters that are a Config, or settings, which embed one, and of what
// one of the readers returned.
func addUses(function *ast.FuncDecl, used map[string]bool) {
	configs := map[string]bool{}
	for _, parameter := range function.Type.Params.List {
		if kind := nameOf(parameter.Type); kind == "config.Config" || kind == "settings" {
			for _, name := range parameter.Names {
				configs[name.Name] = true
			}
		}
	}
	ast.Inspect(function.Body, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.AssignStmt:
			if nameOf(n.Lhs[0]) == "_" && len(n.Lhs) == 1 {
				return false
			}
			if call, ok := n.Rhs[0].(*ast.CallExpr); ok && readers[nameOf(call.Fun)] {
				configs[nameOf(n.Lhs[0])] = true
			}
			for _, left := range n.Lhs {
				if _, ok := left.(*ast.SelectorExpr); ok {
					for _, right := range n.Rhs {
						ast.Inspect(right, func(node ast.Node) bool { return addUse(node, configs, used) })
					}
					return false // what is written is not read
				}
			}
		default:
			return addUse(node, configs, used)
		}
		return true
	})
}

func addUse(node ast.Node, configs, used map[string]bool) bool {
	switch n := node.(type) {
	case *ast.SelectorExpr:
		if configs[nameOf(n.X)] {
			used[n.Sel.Name] = true
		}
	case *ast.CallExpr:
		if nameOf(n.Fun) == "os.Getenv" && nameOf(n.Args[0]) == "config.GitHubTokenEnv" {
			used["$"+config.GitHubTokenEnv] = true
		}
	}
	return true
}

// nameOf returns a name, or a name and a member of it; "" for other expressions.
func nameOf(expression ast.Expr) string {
	switch e := expression.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		if x := nameOf(e.X); x != "" {
			return x + "." + e.Sel.Name
		}
	}
	return ""
}

// scriptsOf returns the text of all scripts below a folder.
func scriptsOf(t *testing.T, folder string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(folder, "*", "*.txtar"))
	if err != nil || len(names) == 0 {
		t.Fatalf("there are no scripts below %s: %v", folder, err)
	}
	var text strings.Builder
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(content)
	}
	return text.String()
}
