package dotnet

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/tree/target"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var toolchain = target.Toolchain{
	Extensions:   []string{".cs", ".fs", ".vb"},
	ProjectFiles: projectFiles,
	Folders:      []string{"csharp", "dotnet"},
	Runtimes:     []string{"dotnet"},
	Starts:       []string{"dotnet run"},
	Variables: []target.Variable{{
		Name: "BP_DOTNET_PROJECT_PATH", Source: "paketo-buildpacks/dotnet-publish build.go", Read: target.Directory,
	}},
	IsProgram: isInProject,
}

var projectFiles = []string{".csproj", ".fsproj", ".vbproj", ".sln"}

// isInProject reports whether a word is the project of a server: dotnet run --project server/Server.csproj.
func isInProject(_ *target.Files, s *plan.Server, word string) bool {
	return slices.Contains(projectFiles, path.Ext(word)) && target.IsIn(s, path.Dir(word))
}
