package rust

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// addition is a call that adds services to a server or a router.
var addition = lazyregexp.New(`\.\s*(add_service|add_optional_service|add_routes)\s*\(`)

// findings returns all findings of a source, without its listeners, and those that its paths prove with their places.
func findings(t *source.Text, u *uses) ([]finding.Finding, []construction) {
	made := withRouter(t, u, references(t, u))
	var found []finding.Finding
	for _, c := range made {
		found = append(found, c.Finding)
	}
	found = append(found, implementations(t, u)...)
	usesTonic := bytes.Contains(t.Code, []byte(tonic)) || u.hasCrate(tonic)
	if usesTonic && !finding.Has[finding.Server](found) {
		found = append(found, additions(t)...)
	}
	isMain := t.Matches(mainFunction)
	found = inMain(found, isMain)
	return slices.Concat(found, analyzer.Findings(t, healthByName, nil), servingTypes(t, u)), made
}

// inMain returns findings whose servers are in the main function of a program, or are not.
func inMain(found []finding.Finding, isMain bool) []finding.Finding {
	ofProgram := func(finding.Server) bool { return isMain }
	for i, f := range found {
		if r, ok := f.(routes); ok {
			found[i] = routes{finding.InMain([]finding.Finding{r.Finding}, ofProgram)[0]}
		}
	}
	return finding.InMain(found, ofProgram)
}

// mainFunction is the function with which a program begins, in src/main.rs, in src/bin, or in another file that
// Cargo.toml names.
var mainFunction = lazyregexp.New(`(?m)^(?:pub\s+)?(?:async\s+)?fn\s+main\s*\(`)

// healthByName are the service that an app wrote without generated code, by its name: a tonic NamedService, or the
// paths of its methods on a router; and the statuses of one of a crate.
var healthByName = []analyzer.Rule{
	// That of tonic-health is set_service_status.
	{
		Code:   lazyregexp.New(`\bset_serv(?:ing|ice)_status\s*(?P<at>\((?:[^()]|\([^()]*\)){1,300}\))`),
		Proves: finding.SetsHealthStatus,
	},
	{
		Code:    lazyregexp.New(`\bNAME\s*:\s*&\s*(?:'static\s+)?str\s*=\s*"(?P<literal> +)"`),
		Literal: source.Exactly(`grpc\.health\.v1\.Health`),
		Proves:  finding.RegistersHealth,
	},
	{
		Code:    lazyregexp.New(`\.\s*(?P<at>(?:route|route_service|nest|nest_service)\s*\(\s*"(?P<literal> +)")`),
		Literal: source.Exactly(`/grpc\.health\.v1\.Health(?:/.*)?`),
		Proves:  finding.RegistersHealth,
	},
}

// references returns what the paths in the code prove.
func references(t *source.Text, u *uses) []construction {
	var found []construction
	in := file{addsServices: addition.Match(t.Code), serves: servesItself(t, u), modules: t.Names(module)}
	for _, m := range t.FindAll(possiblePath, -1) {
		if proves := evidence(string(t.Code[m[0]:m[1]]), u, in); proves != nil {
			site, code := siteOf(t, m)
			found = append(found, construction{proves(site, code), site, source.Span{From: m[0]}})
		}
	}
	return found
}

// axumRouter is a call that makes a router of axum of tonic's Routes.
var axumRouter = lazyregexp.New(`\.\s*into_axum_router\s*\(`)

// withRouter returns what a file constructs. If it makes a router of tonic's Routes and serves one, that is a server,
// whoever made the Routes.
func withRouter(t *source.Text, u *uses, made []construction) []construction {
	router := axumRouter.FindIndex(t.Code)
	if router == nil || !isServingHTTP(t, u) {
		return made
	}
	of := slices.IndexFunc(made, func(c construction) bool { return finding.Is[routes](c.Finding) })
	if of < 0 {
		site, _ := siteOf(t, router)
		made = append(made, construction{site: site, statement: source.Span{From: router[0]}})
		of = len(made) - 1
	}
	made[of].Finding = routes{finding.Server{Site: made[of].site, Framework: tonic}}
	return made
}

// file is what a file does beside what its paths say.
type file struct {
	addsServices bool // to something
	serves       bool // gRPC by itself, on HTTP/2 of another crate than tonic's transport
	modules      []string
}

// module is the declaration of a module.
var module = lazyregexp.New(`\bmod\s+(?P<name>\w+)\s*[{;]`)

// servesHTTP are paths of what hyper and axum serve HTTP/2 with.
var servesHTTP = lazyregexp.New(
	`\bhyper(?:_util)?::server\b|\bhyper::Server\b|\baxum(?:_server)?::(?:serve|Server|bind\w*|from_tcp\w*)\b`)

// servesItself reports whether a file tells calls of gRPC from others by their content type, and serves both.
func servesItself(t *source.Text, u *uses) bool {
	if !bytes.Contains(t.Raw, []byte(`"application/grpc`)) || bytes.Contains(t.Code, []byte("Server::builder")) {
		return false
	}
	return isServingHTTP(t, u)
}

// isServingHTTP reports whether a file serves HTTP with hyper or axum.
func isServingHTTP(t *source.Text, u *uses) bool {
	return t.Matches(servesHTTP) || slices.ContainsFunc(slices.Collect(maps.Values(u.paths)), servesHTTP.MatchString)
}

// locate returns the finding of a match.
func locate(t *source.Text, proves finding.Make, match []int) finding.Finding {
	return proves(siteOf(t, match))
}

// siteOf returns the site of a match, and what stands there.
func siteOf(t *source.Text, match []int) (*finding.Site, string) {
	code := strings.TrimRight(string(t.Raw[match[0]:match[1]]), " (")
	return finding.At(t, source.Span{From: match[0], To: match[0] + len(code)}), code
}

var (
	implementation = lazyregexp.New(`\bimpl\b(?:\s*<[^{;]*?>)?\s+(?P<at>(?:\w+::)*\w+)(?:\s*<[^{;]*?>)?\s+for\s`)
	generatedTrait = lazyregexp.New(`(?:^|::)(\w+)_server::(?:r#)?(\w+)$`)
	// requestType is the type of what every method of a tonic service takes.
	requestType = lazyregexp.New(`\bRequest\s*<`)
	// watchStream is the type that generated code requires for Watch, the one stream of grpc.health.v1.Health.
	watchStream = lazyregexp.New(`\btype\s+WatchStream\b`)
)

// implementations returns the implementations of services: `impl Greeter for X`, where Greeter is a trait of a module
// greeter_server as tonic-build names them.
func implementations(t *source.Text, u *uses) []finding.Finding {
	if !requestType.Match(t.Code) {
		return nil
	}
	var found []finding.Finding
	isHealth := watchStream.Match(t.Code)
	for _, m := range t.FindAll(implementation, -1) {
		trait := string(t.Code[m[2]:m[3]])
		switch {
		case !slices.ContainsFunc(u.candidates(trait), isGeneratedTrait):
		case isHealth && strings.HasSuffix(trait, "Health"):
			found = append(found, locate(t, finding.RegistersHealth, m[2:4]))
		default:
			found = append(found, locate(t, tonicServiceImplemented, m[2:4]))
		}
	}
	return found
}

// isGeneratedTrait reports whether tonic-build may have generated the trait of a path, such as greeter_server::Greeter.
func isGeneratedTrait(path string) bool {
	m := generatedTrait.FindStringSubmatch(path)
	return m != nil && strings.EqualFold(strings.ReplaceAll(m[1], "_", ""), strings.ReplaceAll(m[2], "_", ""))
}

// isGeneratedServer reports whether a path constructs a server that tonic-build may have generated, such as
// greeter_server::GreeterServer::new.
func isGeneratedServer(path string) bool {
	server, _, isCall := strings.Cut(path, "Server::")
	return isCall && isGeneratedTrait(server)
}

// additions returns the services that are added to a router which is made elsewhere.
func additions(t *source.Text) []finding.Finding {
	var found []finding.Finding
	for _, m := range t.FindAll(addition, -1) {
		found = append(found, locate(t, tonicServiceRegistered, m[2:4]))
	}
	return found
}
