package detect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
)

// dotnetDeps is a *.deps.json, which says what a published program is made of (github.com/dotnet/cli,
// Documentation/specs/runtime-configuration-file.md).
type dotnetDeps struct {
	Targets map[string]map[string]struct {
		Dependencies map[string]string
		Runtime      map[string]json.RawMessage
	}
	Libraries map[string]struct{ Type string }
}

// dotnetProgram is what a publish folder says beside its signs.
type dotnetProgram struct{ language string }

var (
	// dotnetServerPackages can serve; a program without any of them cannot.
	dotnetServerPackages = regexp.MustCompile(`^(?:Grpc\.AspNetCore\.Server|Grpc\.Core)/`)
	dotnetTestLibraries  = regexp.MustCompile(`^(?i:Microsoft\.NET\.Test\.Sdk|Microsoft\.TestPlatform\.TestHost|xunit(?:\.v3)?\.core|NUnit|MSTest\.TestFramework)/`)
)

// dotnetReferences are the names that an assembly of the app's own holds, in its metadata, of what it calls (ECMA-335,
// II.24.2.3, the #Strings heap: each ends with a NUL, and begins after one). The same calls decide as in sources.
var dotnetReferences = []struct {
	name string
	sign sign
}{
	{"MapMagicOnionService", sign{kind: registers, framework: dotnetMagicOnion}},
	{"AddServiceStackGrpc", sign{kind: registers, framework: dotnetServiceStack}},
	{"AddCodeFirstGrpc", sign{kind: registers, framework: dotnetCodeFirst}},
	{"MapGrpcService", sign{kind: registers, framework: dotnetAspNetCore}},
	{"ServerPort", sign{kind: constructs, framework: dotnetCore}},
	{"MapGrpcHealthChecksService", sign{kind: health}},
	{"HealthServiceImpl", sign{kind: health}},
	{"HealthBase", sign{kind: health}},
}

// dotnetPublished reads the app's own assemblies in a publish folder; a nil value where f is not one of a program that
// can serve.
func dotnetPublished(f *file, text []byte) (*sheet, error) {
	var deps dotnetDeps
	if err := json.Unmarshal(trimBOM(text), &deps); err != nil {
		return nil, fmt.Errorf("leaving out a list of dependencies that is not JSON: %w", err)
	}
	serves := false
	for library := range deps.Libraries {
		if dotnetTestLibraries.MatchString(library) {
			return nil, nil
		}
		serves = serves || dotnetServerPackages.MatchString(library)
	}
	if !serves {
		return nil, nil
	}
	said := &sheet{root: true, built: true}
	for _, assembly := range deps.own() {
		if err := dotnetAssembly(f, assembly, said); err != nil {
			return nil, err
		}
	}
	said.own = dotnetProgram{deps.language()}
	return said, nil
}

// own returns the file names of the app's own assemblies.
func (d dotnetDeps) own() []string {
	var names []string
	for _, target := range d.Targets {
		for library, parts := range target {
			if d.Libraries[library].Type != "project" {
				continue
			}
			for name := range parts.Runtime {
				names = append(names, path.Base(name))
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (d dotnetDeps) language() string {
	for _, target := range d.Targets {
		for library, parts := range target {
			if _, fsharp := parts.Dependencies["FSharp.Core"]; fsharp && d.Libraries[library].Type == "project" {
				return "fsharp"
			}
		}
	}
	return "csharp"
}

// dotnetAssembly adds the signs of an assembly beside f.
func dotnetAssembly(f *file, name string, said *sheet) error {
	assembly := f.beside(name)
	defer assembly.close()
	err := assembly.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var names []string
	for _, r := range dotnetReferences {
		names = append(names, r.name)
	}
	found, err := findNames(io.NewSectionReader(assembly, 0, min(assembly.size, maxProgramBytes)), names...)
	if err != nil {
		return fmt.Errorf("reading an assembly's names: %w", err)
	}
	for i, r := range dotnetReferences {
		if found[i] {
			r.sign.what = name + ": " + r.name
			said.signs = append(said.signs, r.sign)
		}
	}
	return nil
}
