package rust

import (
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// tonicHealth is the crate whose health service knows the whole server from the start, from 0.6 on. Before that it
// knows nothing until the app sets a status (tonic-health/src/server.rs of tonic).
const tonicHealth = "tonic-health"

// oldVersion is a requirement that only versions before 0.6 meet.
var oldVersion = lazyregexp.New(`^\s*[=^~]?\s*0\.[1-5](?:\.|\s*$)`)

// isOldHealth reports whether a dependency is a tonic-health before 0.6.
func isOldHealth(dependency any) bool {
	if table, ok := dependency.(map[string]any); ok {
		dependency = table["version"]
	}
	version, _ := dependency.(string)
	return oldVersion.MatchString(version)
}

var (
	// setServing is a call that sets the status of a service by the type of its server, and serverType that type.
	setServing = lazyregexp.New(`\bset_serving\s*::\s*<(?P<type>[^();{}]{1,200})>\s*\(`)
	serverType = lazyregexp.New(`(?:\w+::)*\w+Server\b`)
)

// servingTypes returns the statuses that are set by types. Each has the whole path of the type.
func servingTypes(t *source.Text, u *uses) []finding.Finding {
	var found []finding.Finding
	for _, m := range t.FindAll(setServing, -1) {
		of, _ := t.Group(setServing, m, "type")
		if name, _ := u.resolve(serverType.FindString(of)); name != "" {
			site := finding.At(t, source.Span{From: m[0], To: m[1]}).Quiet()
			found = append(found, finding.HealthStatus{Site: site, Named: name})
		}
	}
	return found
}

var (
	includeProto = []byte("include_proto!")
	// includedCode is where a source includes what tonic-build generates of a package, in a module or in none.
	includedCode = lazyregexp.New(
		`(?:\bmod\s+(?P<module>\w+)\s*\{[^{};]*?)?\binclude_proto!\s*[({]\s*"(?P<package>[ ]+)"`)
)

// includedPackages returns the packages whose code a source includes, by the last name of the modules around.
func includedPackages(file string, t *source.Text) map[string]string {
	packages := map[string]string{}
	for _, m := range t.FindAll(includedCode, maxPackages) {
		module, ok := t.Group(includedCode, m, "module")
		if !ok {
			module = path.Base(strings.TrimSuffix(strings.TrimSuffix(file, ".rs"), "/mod"))
		}
		packages[module], _ = t.Group(includedCode, m, "package")
	}
	if len(packages) == 0 {
		return nil
	}
	return packages
}

// maxPackages is how many packages of one source are looked at.
const maxPackages = 64

// named names the services of the statuses that are set by types: as the .proto files of the app do, or else by the
// package that a module includes. tonic-build writes Orders of the package shop as shop::orders_server::OrdersServer.
type named struct {
	services analyzer.Services
	packages map[string]string // by module, "" for one that includes several
}

func newNamed(crates []*crate) named {
	n := named{analyzer.ServicesOf(crates), map[string]string{}}
	for _, c := range crates {
		for _, f := range c.Files {
			for module, pkg := range f.Extra.Packages {
				if other, ok := n.packages[module]; ok && other != pkg {
					pkg = ""
				}
				n.packages[module] = pkg
			}
		}
	}
	return n
}

// generatedServer is the path of a server that tonic-build generates.
var generatedServer = lazyregexp.New(`(?:^|::)(\w+)::\w+_server::(\w+)Server$`)

func (n named) status(s finding.HealthStatus) finding.HealthStatus {
	m := generatedServer.FindStringSubmatch(s.Named)
	if m == nil || n.services.Named(s).Named == "" || n.packages[m[1]] == "" {
		return s
	}
	return s.With(n.packages[m[1]] + "." + m[2])
}
