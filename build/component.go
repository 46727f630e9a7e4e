package build

import (
	"debug/buildinfo"
	"strconv"
	"strings"

	"github.com/package-url/packageurl-go"
	"golang.org/x/mod/modfile"
)

// component is a thing that an SBOM lists, with what it is made of.
type component struct {
	name, version string
	// module is the path of the Go module that it is, or is made from.
	module string
	// purl is its package URL (purl-spec), licence its SPDX identifier; "" where there is none or it is not known.
	purl, licence string
	// sha256 is the digest of a file, in hex, origin the URL it was downloaded from, source how it was come by.
	sha256, origin, source string
	parts                  []component
}

// component returns the probe as the SBOM describes it. One that was downloaded is the release of a repository, which is
// not that of the program's module where it is a fork's: of the module it has what the program itself says.
func (p Probe) component() component {
	c := goProgram(p.Info, p.Version)
	if p.PURL != "" {
		c = component{purl: p.PURL, licence: c.licence, parts: c.parts}
		if p.Info != nil && p.Info.Main.Path != "" {
			c.parts = append([]component{goModule(p.Info.Main.Path, p.Info.Main.Version)}, c.parts...)
		}
	}
	c.name, c.version, c.sha256, c.origin, c.source = programName, p.Version, p.SHA256, p.Origin, p.Source
	return c
}

// goProgram returns a Go program of the version, which has no name yet: its main module and what is linked into it. Info
// may be nil. A program that was not built as part of a module (by Bazel, or one of Go's own) has no main module.
func goProgram(info *buildinfo.BuildInfo, version string) component {
	if info == nil {
		return component{}
	}
	var c component
	if info.Main.Path != "" {
		c = goModule(info.Main.Path, version)
	}
	c.parts = linked(info)
	return c
}

// linked returns what is linked into a Go program beside its main module: the modules, replacements applied, and the
// standard library, under the name and version by which vulnerability databases know it. A module that was replaced by a
// folder keeps its name, since the folder's says nothing elsewhere, and has no version.
func linked(info *buildinfo.BuildInfo) []component {
	parts := []component{goModule("stdlib", strings.TrimPrefix(goRelease(info.GoVersion), "go"))}
	for _, dep := range info.Deps {
		name, version := dep.Path, dep.Version
		if dep.Replace != nil {
			version = dep.Replace.Version
		}
		if dep.Replace != nil && !modfile.IsDirectoryPath(dep.Replace.Path) {
			name = dep.Replace.Path
		}
		parts = append(parts, goModule(name, version))
	}
	return parts
}

// goRelease returns the release of Go in the version that go and its programs tell, which may go on with experiments or
// the maker's own: "go1.26.0-X:fieldtrack", "go1.26.0 (Red Hat 1.26.0-1.el9)".
func goRelease(version string) string {
	if i := strings.IndexAny(version, " -"); i >= 0 {
		return version[:i]
	}
	return version
}

func goModule(path, version string) component {
	namespace, name := "", path
	if i := strings.LastIndex(path, "/"); i >= 0 {
		namespace, name = path[:i], path[i+1:]
	}
	known := version
	if known == "(devel)" {
		known = ""
	}
	purl := packageurl.NewPackageURL(packageurl.TypeGolang, namespace, name, known, nil, "").ToString()
	return component{name: path, version: version, module: path, purl: purl, licence: licenceOf(path)}
}

// numbered is a component in a list, and the number by which a document refers to it. The same module may be in it twice,
// as a part of two programs.
type numbered struct {
	component
	id    string
	parts []numbered
}

// number gives each component of the tree its number, from above.
func number(c component) numbered {
	next := 0
	var walk func(component) numbered
	walk = func(c component) numbered {
		n := numbered{component: c, id: "component-" + strconv.Itoa(next)}
		next++
		for _, part := range c.parts {
			n.parts = append(n.parts, walk(part))
		}
		return n
	}
	return walk(c)
}

// all returns the component and all below it, in the order of their numbers.
func (n numbered) all() []numbered {
	list := []numbered{n}
	for _, part := range n.parts {
		list = append(list, part.all()...)
	}
	return list
}
