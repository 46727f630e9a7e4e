package golang

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// maxHealthPackages is how many packages with a health registration are looked at: the imports of each are followed.
const maxHealthPackages = 64

// shareHealth moves the health registrations of packages that construct no server to the packages that construct those
// they are for: servers that import the registration, or that it imports; if there are none, the servers of the
// programs that it is in. Where imports do not tell, the directories do: see analyzer.Servers.
func (w workspace) shareHealth(all []*project) {
	var healthy []*analyzer.Package
	servers := serverPackages(all)
	for _, p := range all {
		for _, in := range p.Packages {
			if !in.Built && servers[in.Path] == nil && finding.Has[finding.Health](in.Findings) {
				healthy = append(healthy, in)
			}
		}
	}
	if len(servers) == 0 || len(healthy) == 0 || len(healthy) > maxHealthPackages {
		return
	}
	importers := w.importers()
	for _, in := range healthy {
		importing := closure([]string{in.Path}, func(dir string) []string { return importers[dir] })
		found := serversAmong(servers, w.reach([]string{in.Path}), importing)
		if len(found) == 0 {
			mains := w.mainsAmong(importing)
			if found = serversAmong(servers, w.reach(mains), nil); len(found) == 0 && len(mains) > 0 {
				// It is for a server that is made outside of the app.
				in.Findings = slices.DeleteFunc(in.Findings, finding.Is[finding.Health])
			}
		}
		giveHealth(in, found)
	}
}

// serverPackages returns the packages of the sources that construct servers, by their directories.
func serverPackages(all []*project) map[string]*analyzer.Package {
	servers := map[string]*analyzer.Package{}
	for _, p := range all {
		for _, in := range p.Packages {
			if !in.Built && finding.Has[finding.Server](in.Findings) {
				servers[in.Path] = in
			}
		}
	}
	return servers
}

// mainsAmong returns those of several directories that are packages main.
func (w workspace) mainsAmong(dirs map[string]bool) []string {
	var mains []string
	for dir := range dirs {
		if w.mains[dir] {
			mains = append(mains, dir)
		}
	}
	return mains
}

// importers returns the directories of the packages that import each package of the app.
func (w workspace) importers() map[string][]string {
	importers := map[string][]string{}
	for dir, imports := range w.imports {
		for _, importPath := range imports {
			if imported, ok := w.lookup(importPath); ok {
				importers[imported] = append(importers[imported], dir)
			}
		}
	}
	return importers
}

// serversAmong returns the packages that are in one of two sets of directories.
func serversAmong(servers map[string]*analyzer.Package, a, b map[string]bool) []*analyzer.Package {
	var found []*analyzer.Package
	for dir, in := range servers {
		if a[dir] || b[dir] {
			found = append(found, in)
		}
	}
	return found
}

// giveHealth moves the first health registration of a package to other packages, if there are any.
func giveHealth(from *analyzer.Package, to []*analyzer.Package) {
	health, ok := finding.First[finding.Health](from.Findings)
	if !ok {
		return
	}
	for _, in := range to {
		if !finding.Has[finding.Health](in.Findings) {
			in.Findings = append(in.Findings, finding.Health{Site: health.Quiet(), NeedsStatus: health.NeedsStatus})
		}
	}
	if len(to) > 0 {
		from.Findings = slices.DeleteFunc(from.Findings, finding.Is[finding.Health])
	}
}

// registersOtherHealth reports whether generated code is that of a service Health in another package than
// grpc.health.v1. Only what lies under a name with "health" is taken for code of a health service: see symbolRules.
func registersOtherHealth(f *tree.File) bool {
	if !strings.Contains(strings.ToLower(f.Path), "health") {
		return false
	}
	text, err := f.Text()
	return err == nil && bytes.Contains(text, []byte("func RegisterHealthServer(")) &&
		!bytes.Contains(text, []byte(`"grpc.health.v1.Health"`))
}

// leaveOutOtherHealth makes registrations of a service Health that is not the standard one those of any service: one
// whose generated code is in the app, or which a .proto of the app defines.
func leaveOutOtherHealth(files []analyzer.File[Extra], lookup func(importPath string) (dir string, ok bool)) {
	others, defined := map[string]bool{}, analyzer.HealthFolders{}
	for _, f := range files {
		others[path.Dir(f.Path)] = others[path.Dir(f.Path)] || f.Extra.OtherHealth
		defined.Add(f.Path, f.Extra.Health)
	}
	for i, f := range files {
		other := map[plan.Place]string{}
		for h := range finding.All[ofPackage](f.Findings) {
			if h.kind != healthRegistration {
				continue
			}
			dir, isOwn := lookup(h.pkg)
			if h.pkg == "" {
				dir, isOwn = path.Dir(f.Path), true
			}
			if isOwn && (others[dir] || defined.IsOwn(dir+"/any")) {
				other[h.Place] = h.pkg
			}
		}
		for j, found := range f.Findings {
			if health, ok := found.(finding.Health); ok {
				if pkg, isOther := other[health.Place]; isOther {
					files[i].Findings[j] = ofPackage{Site: health.Site, kind: registration, pkg: pkg}
				}
			}
		}
		files[i].Findings = slices.DeleteFunc(f.Findings, func(found finding.Finding) bool {
			_, isOther := other[finding.Where(found)]
			return isOther && isA(healthRegistration)(found)
		})
	}
}
