package sbom

import (
	"debug/buildinfo"
	"strconv"
	"strings"

	"github.com/package-url/packageurl-go"
	"golang.org/x/mod/modfile"
)

// Component is an entry of an SBOM: a program, another file, a Go module, or a layer of files.
type Component struct {
	Name, Version string
	// Module is the path of the component's Go module, or of the module in the component's build.
	Module string
	// PURL is the package URL (purl-spec), "" for none. Licence is the SPDX identifier, "" if unknown.
	PURL, Licence string
	// SHA256 is the digest of a file, in hex. Origin is the URL of the file's download. Source says how the buildpack
	// obtained the file: bundled, compile, download or release.
	SHA256, Origin, Source string
	// Parts are the components within the component.
	Parts []Component
}

// GoProgram describes a Go program of the version, still without a name: the main module and the linked modules. A
// program built outside a module (one of Go's own, or by Bazel) has no main module. For a nil info the component is
// empty.
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

// linkedModules returns a Go program's linked modules without the main module: the standard library, under the name and
// version in vulnerability databases, and the modules, with replacements applied. A module replaced by a folder keeps
// the name, since the folder's name means nothing elsewhere, and has no version.
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

// goRelease returns the release in a version of Go. Experiments or a vendor's own version may follow the release:
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

// numbered is a component with a number for references in a document. Names are not unique: a module may be part of two
// programs.
type numbered struct {
	Component
	id    string
	parts []numbered
}

// number numbers the components of the tree, the root first.
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
