package documents_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// literal is a string literal in the source of a Go program.
type literal struct {
	Position token.Position
	Text     string
}

// literals returns the string literals in the Go files of a folder and of the folders in it, without tests, import
// paths and struct tags.
func literals(folder string) ([]literal, error) {
	var literals []literal
	err := parseFolder(folder, func(files *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.ImportSpec:
				return false
			case *ast.Field:
				node.Tag = nil
			case *ast.BasicLit:
				if text, err := strconv.Unquote(node.Value); node.Kind == token.STRING && err == nil {
					literals = append(literals, literal{files.Position(node.Pos()), text})
				}
			}
			return true
		})
	})
	return literals, err
}

// parseFolder calls a function with each Go file in a folder and in the folders in it, without tests and test data.
func parseFolder(folder string, each func(files *token.FileSet, file *ast.File)) error {
	files := token.NewFileSet()
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "testdata":
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parsing %q: %w", path, err)
		}
		each(files, file)
		return nil
	})
}

// constants returns the values of the constants of a type, as they are written in the Go files of a folder.
func constants(folder, typeName string) ([]string, error) {
	var values []string
	err := parseFolder(folder, func(_ *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok || len(spec.Values) == 0 {
				return true
			}
			if name, ok := spec.Type.(*ast.Ident); ok && name.Name == typeName {
				for _, value := range spec.Values {
					if literal, ok := value.(*ast.BasicLit); ok {
						values = append(values, literal.Value)
					}
				}
			}
			return true
		})
	})
	return values, err
}

// writtenKeys returns the names of the members that a package writes into JSON objects by hand: the first arguments of
// the methods of a type.
func writtenKeys(folder, typeName string) ([]string, error) {
	methods := map[string]bool{}
	var calls []*ast.CallExpr
	err := parseFolder(folder, func(_ *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				if receiver(node) == typeName {
					methods[node.Name.Name] = true
				}
			case *ast.CallExpr:
				calls = append(calls, node)
			}
			return true
		})
	})
	var keys []string
	for _, call := range calls {
		selector, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || len(call.Args) == 0 || !methods[selector.Sel.Name] {
			continue
		}
		literal, ok := call.Args[0].(*ast.BasicLit)
		if !ok {
			continue
		}
		key, err := strconv.Unquote(literal.Value)
		if err == nil && !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys, err
}

// receiver returns the name of the type that a method is of, or nothing for a function.
func receiver(function *ast.FuncDecl) string {
	if function.Recv == nil {
		return ""
	}
	kind := function.Recv.List[0].Type
	if pointer, ok := kind.(*ast.StarExpr); ok {
		kind = pointer.X
	}
	name, _ := kind.(*ast.Ident)
	if name == nil {
		return ""
	}
	return name.Name
}

// goFolders returns the folders of a repository that have Go files, relative to it, without test data and what scripts
// made.
func goFolders(repository string) ([]string, error) {
	var folders []string
	err := filepath.WalkDir(repository, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := entry.Name()
		if entry.IsDir() {
			if name == "testdata" || name == "dist" || strings.HasPrefix(name, ".") && path != repository &&
				name != ".." {
				return filepath.SkipDir
			}
			return nil
		}
		folder, err := filepath.Rel(repository, filepath.Dir(path))
		if strings.HasSuffix(name, ".go") && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
		return err
	})
	return folders, err
}

// exists reports whether a file or a folder is in the repository.
func exists(repository, name string) bool {
	_, err := os.Stat(filepath.Join(repository, name))
	return err == nil
}
