package dotnet

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// dependencies is a *.deps.json, the list of the parts of a published program (github.com/dotnet/cli,
// Documentation/specs/runtime-configuration-file.md).
type dependencies struct {
	Targets map[string]map[string]struct {
		Runtime map[string]json.RawMessage
	}
	Libraries map[string]struct{ Type string }
}

// serverLibrary is a library with a gRPC server. A program without such a library cannot serve.
var serverLibrary = lazyregexp.New(`^(?:Grpc\.AspNetCore\.Server|Grpc\.Core)/`)

// references are the names of methods and classes that an assembly of the app refers to, with the same findings as in
// sources. The names are in the assembly's metadata, each between NUL bytes (ECMA-335, II.24.2.3, the #Strings heap).
var references = []struct {
	name   string
	proves finding.Make
}{
	{"MapMagicOnionService", magicOnionMapped},
	{"AddServiceStackGrpc", serviceStackServed},
	{"AddCodeFirstGrpc", finding.Registers(codeFirst)},
	{"MapGrpcService", finding.Registers(aspNetCore)},
	{"ServerPort", finding.Constructs(grpcCore)},
	{"MapGrpcHealthChecksService", finding.RegistersHealth},
	{"HealthServiceImpl", finding.RegistersHealth},
	{"HealthBase", finding.RegistersHealth},
}

// analyzePublishFolder reads the app's own assemblies in the folder of a list of dependencies, f. The result is nil if
// the program cannot serve or is a test.
func analyzePublishFolder(f *tree.File, text []byte) (*analyzer.Result[extra], error) {
	var deps dependencies
	if err := json.Unmarshal(source.TrimBOM(text), &deps); err != nil {
		return nil, fmt.Errorf("leaving out a list of dependencies that is not JSON: %w", err)
	}
	canServe := false
	for library := range deps.Libraries {
		if name, _, _ := strings.Cut(library, "/"); isTestPackage(name) {
			return nil, nil
		}
		canServe = canServe || serverLibrary.MatchString(library)
	}
	if !canServe {
		return nil, nil
	}
	result := &analyzer.Result[extra]{ProjectRoot: true, Built: true, Language: "csharp"}
	if bytes.Contains(text, []byte(`"FSharp.Core"`)) { // the library of all programs in F#
		result.Language = "fsharp"
	}
	for _, assembly := range deps.ownAssemblies() {
		found, err := readAssembly(f, assembly)
		if err != nil {
			return nil, err
		}
		result.Findings = append(result.Findings, found...)
	}
	return result, nil
}

// ownAssemblies returns the file names of the assemblies of the app's own projects.
func (d dependencies) ownAssemblies() []string {
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

// readAssembly returns the findings in the assembly of a name beside f. A missing assembly has none.
func readAssembly(f *tree.File, name string) ([]finding.Finding, error) {
	assembly := f.Sibling(name)
	defer assembly.Close()
	size, err := assembly.Size()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range references {
		names = append(names, r.name)
	}
	present, err := tree.FindNames(io.NewSectionReader(assembly, 0, min(size, tree.MaxProgram)), names...)
	if err != nil {
		return nil, fmt.Errorf("reading an assembly's names: %w", err)
	}
	var found []finding.Finding
	for i, r := range references {
		if present[i] {
			found = append(found, r.proves(finding.AtLine(0, name+": "+r.name), r.name))
		}
	}
	return found, nil
}
