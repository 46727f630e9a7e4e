package golang

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/tree/target"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var toolchain = target.Toolchain{
	Extensions: []string{".go"},
	Folders:    []string{"golang"},
	Starts:     []string{"go run"},
	Variables: []target.Variable{
		{Name: "BP_GO_TARGETS", Source: goBuild, Read: packages(":")},
		{Name: "BP_GO_WORKDIR", Source: goBuild, Read: target.Directory},
		{Name: "GO_INSTALL_PACKAGE_SPEC", Source: "heroku/heroku-buildpack-go bin/compile", Read: packages(" ")},
		{Name: "GAE_YAML_MAIN", Source: "GoogleCloudPlatform/buildpacks pkg/env/env.go", Read: packages(" ")},
	},
	Reads: func(file string) bool {
		return file == "go.mod" || strings.HasSuffix(file, ".go") && !strings.HasSuffix(file, "_test.go")
	},
	Read: readManifest,
}

const goBuild = "paketo-buildpacks/go-build build_configuration_parser.go"

// packages reads packages: folders, import paths, files.
func packages(separator string) target.Reader {
	return func(fs *target.Files, value string) []target.Module {
		var all []target.Module
		for written := range strings.SplitSeq(value, separator) {
			if written = strings.TrimSpace(written); written != "" {
				all = append(all, packageNamed(fs, written)...)
			}
		}
		return all
	}
}

// packageNamed returns the module of a package. The app's folder itself names the program there; ./... names none.
func packageNamed(fs *target.Files, written string) []target.Module {
	named := target.Package(fs, written)
	if named != nil || strings.HasSuffix(written, "...") {
		return named
	}
	return []target.Module{{Written: written, Builds: func(s *plan.Server) bool {
		return slices.Contains(s.Programs, ".") || len(s.Programs) == 0 && path.Dir(s.Evidence.Path) == "."
	}}}
}

var (
	// herokuInstall is the comment that names packages (heroku/buildpacks-go buildpacks/go/src/cfg.rs).
	herokuInstall = lazyregexp.New(`(?m)^//[ \t]*\+heroku[ \t]+install[ \t]+(\S[^\r\n]*)`)
	// embedLine is a line with patterns of files that a program carries as its data (package embed).
	embedLine = lazyregexp.New(`(?m)^[ \t]*//go:embed[ \t]+([^\r\n]+)`)
)

// maxEmbedLines bounds the lines with patterns of a source.
const maxEmbedLines = 256

// readManifest reads the packages that go.mod names, or the patterns of a source.
func readManifest(file string, text []byte) (m target.Manifest) {
	if file == "go.mod" {
		if install := herokuInstall.FindSubmatch(text); install != nil {
			m.Value = target.Value{Says: "+heroku install in go.mod", Text: string(install[1]), Read: packages(" ")}
		}
		return m
	}
	if !bytes.Contains(text, []byte("//go:embed")) {
		return m
	}
	for _, line := range embedLine.FindAllSubmatch(text, maxEmbedLines) {
		for pattern := range strings.FieldsSeq(string(line[1])) {
			pattern = strings.TrimPrefix(strings.Trim(pattern, "\"`"), "all:")
			m.Embedded = append(m.Embedded, path.Join(path.Dir(file), pattern))
		}
	}
	return m
}
