package detect

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
)

// rustHealthServer is a server of a service Health: grpc.health.v1's, or the app's own.
const rustHealthServer = ownKinds

// rustAPI are the paths that decide, whole. The first row that fits decides. No framework registers grpc.health.v1 itself:
// tonic's transport/server/mod.rs, volo-grpc's server/mod.rs, grpcio's server.rs, poem-grpc's route.rs and connectrpc's
// server.rs add only what they are given.
var rustAPI = []struct {
	path *regexp.Regexp
	sign sign
}{
	{exactly(`tonic_health::server::(health_reporter|HealthReporter::new|HealthService::from_\w+)`), sign{kind: health}},
	{exactly(`tonic_health::(\w+::)*HealthServer::\w+`), sign{kind: health}},
	{exactly(`(.*::)?(\w*health_?v1|\w*health::v1|grpc_health)::(.*::)?HealthServer::\w+`), sign{kind: health}},
	{exactly(`(.*::)?grpcio_health::(proto::)?create_health`), sign{kind: health}},
	{exactly(`poem_grpc::health_service`), sign{kind: health}},
	{exactly(`connectrpc_health::(install_\w+|HealthService::new)`), sign{kind: health}},
	{exactly(`(.*::)?transport::(server::)?Server::(builder|default)`), sign{kind: constructs, framework: "tonic"}},
	{exactly(`(.*::)?tonic::service::(\w+::)*Routes(Builder)?::(new|builder|default)`), sign{kind: registers, framework: "tonic"}},
	{exactly(`volo_grpc::server::Server::new`), sign{kind: constructs, framework: "volo"}},
	{exactly(`volo_grpc::server::ServiceBuilder::new`), sign{kind: registers, framework: "volo"}},
	{exactly(`grpcio::(server::)?ServerBuilder::new`), sign{kind: constructs, framework: "grpcio"}},
	{exactly(`poem_grpc::RouteGrpc::(new|default)`), sign{kind: constructs, framework: "poem-grpc"}},
	// Its tower service alone may be served by HTTP/1.1, which axum does by default, and then has no gRPC.
	{exactly(`connectrpc::(server::)?Server::(new|from_service|bind)`), sign{kind: constructs, framework: "connectrpc"}},
	{exactly(`grpc::ServerBuilder::new\w*`), sign{kind: constructs, framework: "grpc-rust"}},
}

var (
	// The paths that rustAPI may have, and its functions that are called by their imported names.
	rustPath = regexp.MustCompile(`\b(?:\w+::(?:<[^<>()]*>::)?)+(?:builder|default|new\w*|with_interceptor|from_\w+|bind|` +
		`create_health|health_\w+|install_\w+)\b|\b(?:create_health|health_service|health_reporter|install_\w+)\s*\(`)
	rustTypeArgs = regexp.MustCompile(`<[^<>()]*>::`)
	rustImpl     = regexp.MustCompile(`\bimpl\b(?:\s*<[^{;]*?>)?\s+(?P<at>(?:\w+::)*\w+)(?:\s*<[^{;]*?>)?\s+for\s`)
	rustGenTrait = regexp.MustCompile(`(?:^|::)(\w+)_server::(?:r#)?(\w+)$`)
	rustRequest  = regexp.MustCompile(`\bRequest\s*<`)
	// Health/Watch is the one stream of its service, and generated code names its type so.
	rustHealthStream = regexp.MustCompile(`\btype\s+WatchStream\b`)
	rustHealthNew    = regexp.MustCompile(`(?:^|::)health_server::HealthServer::(?:new|with_interceptor|from_\w+)$`)
	rustAdds         = regexp.MustCompile(`\.\s*(add_service|add_optional_service|add_routes)\s*\(`)
)

func rustSigns(s *source) []sign {
	names := rustUses(s)
	r := &rustReader{source: s, names: names}
	r.adds = rustAdds.Match(s.code)
	for _, m := range rustPath.FindAllIndex(s.code, -1) {
		r.reference(m)
	}
	r.implementations()
	r.additions()
	if len(r.signs) > 0 {
		r.listens()
	}
	return r.signs
}

// rustReader collects the signs of a file.
type rustReader struct {
	*source
	names *rustNames
	adds  bool // a service is added to something
	signs []sign
}

func (r *rustReader) add(at []int, found sign) {
	found.line, found.what = r.line(at[0]), strings.TrimRight(onOneLine(r.text[at[0]:at[1]]), " (")
	r.signs = append(r.signs, found)
}

// wholes returns what a path as written may stand for: what use says of it, or, where it says nothing, itself and what
// each glob import could make of it.
func (r *rustReader) wholes(written string) []string {
	whole, known := r.names.resolve(written)
	wholes := []string{whole}
	if !known {
		for _, glob := range r.names.globs {
			wholes = append(wholes, glob+written)
		}
	}
	return wholes
}

// reference takes a path in the code.
func (r *rustReader) reference(m []int) {
	written := rustTypeArgs.ReplaceAllString(strings.TrimRight(string(r.code[m[0]:m[1]]), " \t\n("), "")
	wholes := r.wholes(written)
	for _, api := range rustAPI {
		if slices.ContainsFunc(wholes, api.path.MatchString) {
			r.add(m, api.sign)
			return
		}
	}
	switch {
	case strings.HasSuffix(wholes[0], "Server::builder") && r.adds:
		// A Server that comes with a prelude or another crate, and takes gRPC services.
		r.add(m, sign{kind: constructs, framework: "tonic"})
	case slices.ContainsFunc(wholes, rustHealthNew.MatchString):
		r.add(m, sign{kind: rustHealthServer})
	}
}

// implementations takes `impl Greeter for X` where Greeter is of a module greeter_server, as tonic-build names them.
func (r *rustReader) implementations() {
	if !rustRequest.Match(r.code) {
		return
	}
	checks := rustHealthStream.Match(r.code)
	for _, m := range rustImpl.FindAllSubmatchIndex(r.code, -1) {
		written := string(r.code[m[2]:m[3]])
		if !slices.ContainsFunc(r.wholes(written), rustGenerates) {
			continue
		}
		if strings.HasSuffix(written, "Health") && checks {
			r.add(m[2:4], sign{kind: health})
			continue
		}
		r.add(m[2:4], sign{kind: registers, framework: "tonic"})
	}
}

// rustGenerates reports whether tonic-build makes a trait of this path: Greeter in greeter_server.
func rustGenerates(trait string) bool {
	m := rustGenTrait.FindStringSubmatch(trait)
	return m != nil && strings.EqualFold(strings.ReplaceAll(m[1], "_", ""), strings.ReplaceAll(m[2], "_", ""))
}

// additions takes .add_service(...) of a router that was made elsewhere.
func (r *rustReader) additions() {
	if makes(r.signs) || !bytes.Contains(r.code, []byte("tonic")) && !r.names.anyOf("tonic") {
		return
	}
	for _, m := range rustAdds.FindAllSubmatchIndex(r.code, -1) {
		r.add(m[2:4], sign{kind: registers, framework: "tonic"})
	}
}

// rustListens are the calls that take the address of a framework's server, or, for what no server is made of in the file,
// of what serves it; in the first argument or in all (ends).
var rustListens = map[string]struct {
	call *regexp.Regexp
	ends string
}{
	"tonic":        {regexp.MustCompile(`\.\s*serve(?:_with_\w+)?\s*\(`), ","},
	"tonic routes": {regexp.MustCompile(`\baxum::serve\s*\(`), ","},
	"volo":         {regexp.MustCompile(`\.\s*run\s*\(`), ","},
	"grpcio":       {regexp.MustCompile(`\.\s*(?:bind|add_listening_port)\s*\(`), ""},
	"poem-grpc":    {regexp.MustCompile(`\bTcpListener::bind\s*\(`), ","},
	"connectrpc":   {regexp.MustCompile(`\.\s*serve\s*\(|\bServer::bind\s*\(`), ","},
	"grpc-rust":    {regexp.MustCompile(`\.\s*set_(?:port|addr)\s*\(`), ","},
}

var (
	rustLet = regexp.MustCompile(`\b(?:let|const|static)\s+(?:mut\s+)?(?P<name>\w+)\s*(?::[^=;]*)?=`)
	// clap's default of an argument, which is reached as a field.
	rustClap = regexp.MustCompile(`\bdefault_value(?:_t)?\s*=\s*(?P<value>[^,)\]]*)[^\]]*\]` +
		`(?:\s*#\[[^\]]*\])*\s*(?:pub(?:\([^)]*\))?\s+)?(?P<field>\w+)\s*:`)
)

// listens takes the addresses of the servers made in the file.
func (r *rustReader) listens() {
	values := r.values(";", rustLet, rustClap)
	made := map[string]bool{}
	for _, s := range r.signs {
		server := ""
		switch {
		case s.kind == constructs:
			server = s.framework
		case strings.Contains(s.what, "Routes"):
			server = "tonic routes"
		}
		if server == "" || made[server] {
			continue
		}
		made[server] = true
		l := rustListens[server]
		for _, m := range l.call.FindAllIndex(r.code, maxListens) {
			r.signs = append(r.signs, sign{kind: listens, port: values.port(span{m[1], r.until(m[1], l.ends)})})
		}
	}
}
