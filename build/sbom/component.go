package sbom

import (
	"debug/buildinfo"
	"strconv"
	"strings"

	"github.com/package-url/packageurl-go"
	"golang.org/x/mod/modfile"
)

// Component is a thing that an SBOM lists: a program, another file, a Go module, or a layer of files.
type Component struct {
	Name, Version string
	// Module is the path of the Go module that the component is, or is built from.
	Module string
	// PURL is the package URL (purl-spec), "" for none. Licence is the SPDX identifier, "" if it is not known.
	PURL, Licence string
	// SHA256 is the digest of a file, in hex. Origin is the URL that the file was downloaded from. Source says how the
	// buildpack obtained the file: bundled, compile, download or release.
	SHA256, Origin, Source string
	// Parts are the components that this one consists of.
	Parts []Component
}

// GoProgram describes a Go program of the version: its main module, and what is linked into it. It has no name yet. A
// program that was not built as part of a module (one of Go's own, or one that Bazel built) has no main module. Info
// may be nil: the component is then empty.
func GoProgram(info *buildinfo.BuildInfo, version string) Component {
	if info == nil {
		return Component{}
	}
	var c Component
	if info.Main.Path != "" {
		c = GoModule(info.Main.Path, version)
	}
	c.Parts = linkedModules(info)
	return c
}

// linkedModules returns what is linked into a Go program beside its main module: the standard library, under the name
// and version by which vulnerability databases know it, and the modules, with replacements applied. A module that is
// replaced by a folder keeps its name, since the folder's name means nothing elsewhere, and has no version.
func linkedModules(info *buildinfo.BuildInfo) []Component {
	parts := []Component{GoModule("stdlib", strings.TrimPrefix(goRelease(info.GoVersion), "go"))}
	for _, dep := range info.Deps {
		name, version := dep.Path, dep.Version
		if dep.Replace != nil {
			version = dep.Replace.Version
		}
		if dep.Replace != nil && !modfile.IsDirectoryPath(dep.Replace.Path) {
			name = dep.Replace.Path
		}
		parts = append(parts, GoModule(name, version))
	}
	return parts
}

// goRelease returns the release in a version of Go, which may be followed by experiments or a vendor's own version:
// "go1.26.0-X:fieldtrack", "go1.26.0 (Red Hat 1.26.0-1.el9)".
func goRelease(version string) string {
	if i := strings.IndexAny(version, " -"); i >= 0 {
		return version[:i]
	}
	return version
}

// GoModule describes a Go module of the version.
func GoModule(path, version string) Component {
	namespace, name := "", path
	if i := strings.LastIndex(path, "/"); i >= 0 {
		namespace, name = path[:i], path[i+1:]
	}
	known := version
	if known == "(devel)" {
		known = ""
	}
	purl := packageurl.NewPackageURL(packageurl.TypeGolang, namespace, name, known, nil, "").ToString()
	return Component{Name: path, Version: version, Module: path, PURL: purl, Licence: licenceOf(path)}
}

// numbered is a component with the number by which a document refers to it. One module may be listed twice, as a part
// of two programs, so its name would not do.
type numbered struct {
	Component
	id    string
	parts []numbered
}

// number gives each component of the tree its number, the root first.
func number(c Component) numbered {
	next := 0
	var walk func(Component) numbered
	walk = func(c Component) numbered {
		n := numbered{Component: c, id: "component-" + strconv.Itoa(next)}
		next++
		for _, part := range c.Parts {
			n.parts = append(n.parts, walk(part))
		}
		return n
	}
	return walk(c)
}

// all returns the component and all components below it, in the order of their numbers.
func (n numbered) all() []numbered {
	list := []numbered{n}
	for _, part := range n.parts {
		list = append(list, part.all()...)
	}
	return list
}
