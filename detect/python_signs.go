package detect

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// The kinds of signs in Python sources that what lies around them decides on.
const (
	pythonWebOnly kind = ownKinds + iota // sonora, which serves gRPC-Web alone to the generated registrations
	pythonNothing                        // a name that looks like another row's and is not
)

// pythonAPI are the names that decide, imports resolved, and how they have to be used. A framework's health behaviour is
// as its own sources have it: dapr/ext/grpc/app.py, django_grpc_framework's and flwr's servers,
// kserve/protocol/grpc/server.py and mlserver/grpc/server.py make a grpc.server and add no health service; django_socio_grpc's grpcrunaioserver.py
// adds it with ENABLE_HEALTH_CHECK.
var pythonAPI = []struct {
	name      *regexp.Regexp
	use       pythonUse
	kind      kind
	framework string
}{
	{exactly(`grpc(\.experimental)?(\.aio)?\.server`), pythonCalled, constructs, "grpcio"},
	{exactly(`.*_pb2\.beta_create_\w+_server`), pythonCalled, constructs, "grpcio"},
	{exactly(`grpclib\.server\.Server`), pythonCalled, constructs, "grpclib"},
	{exactly(`purerpc(\.server)?\.Server`), pythonCalled, constructs, "purerpc"},
	{exactly(`dapr\.ext\.grpc(\.app)?\.App`), pythonCalled, constructs, "dapr"},
	{exactly(`ray\.serve(\.config)?\.gRPCOptions`), pythonCalled, constructs, "ray-serve"},
	{exactly(`flwr\.server(\.app)?\.start_server`), pythonCalled, constructs, "flower"},
	{exactly(`kserve(\.model_server)?\.ModelServer`), pythonCalled, constructs, "kserve"},
	{exactly(`pyarrow\.flight\.FlightServerBase`), pythonInherited, registers, "arrow-flight"},
	{exactly(`mlserver\.(model\.)?MLModel`), pythonInherited, registers, "mlserver"},
	{exactly(`django_grpc_framework\.(\w+\.)*\w*Service`), pythonInherited, registers, "django-grpc-framework"},
	{exactly(`django_socio_grpc\.(\w+\.)*\w*Service`), pythonInherited, registers, "django-socio-grpc"},
	{exactly(`sonora\.(asgi\.grpcASGI|wsgi\.grpcWSGI)`), pythonMentioned, pythonWebOnly, ""},
	{exactly(`grpclib\.health\.service\.Health`), pythonCalled, health, ""},
	{exactly(`(.*\.)?add_HealthServicer_to_server`), pythonMentioned, health, ""},
	{exactly(`(.*\.)?add_\w+Servicer_to_server`), pythonMentioned, registers, "grpcio"},
	{exactly(`grpc_health\..*|.*health_pb2_grpc\.HealthServicer`), pythonInherited, pythonNothing, ""},
	{exactly(`.*_pb2_grpc\.\w+Stub`), pythonInherited, pythonNothing, ""},
	{exactly(`.*_pb2_grpc\.\w+`), pythonInherited, registers, "grpcio"},
}

// pythonTelling are the names that say something without a module before them.
var pythonTelling = regexp.MustCompile(`Servicer|_server$|^Server$`)

// pythonDeclines reports a call that says, in its arguments, that it serves no gRPC.
func pythonDeclines(said sign, s *source, after int) bool {
	if said.framework != "kserve" {
		return said.kind == pythonNothing
	}
	open := strings.IndexByte(string(s.code[after:min(len(s.code), after+16)]), '(')
	if open < 0 {
		return false
	}
	value, ok := s.argument(after+open+1, -1, "enable_grpc")
	return ok && string(s.code[value.from:value.to]) == "False"
}

// pythonConclude makes a service of each source that makes a server.
func pythonConclude(facts []fact, note func(format string, args ...any)) []Service {
	all := projects(facts, itself)
	other := map[string]bool{} // names of modules with a health service that is not the standard one
	for _, f := range facts {
		if f.own == (pythonOtherHealth{}) {
			other[strings.TrimSuffix(path.Base(f.path), ".py")] = true
		}
	}
	for _, p := range all {
		pythonServedBy(p)
		webOnly := p.has(pythonWebOnly) && !p.has(constructs)
		for _, u := range p.units {
			u.signs = slices.DeleteFunc(u.signs, func(s placed) bool {
				return s.kind >= ownKinds || webOnly && s.kind == registers || s.kind == health && other[pythonModule(s.from)]
			})
		}
	}
	return servers(all, note)
}

// pythonServedBy gives plain registrations the framework whose services are among them: it makes the server.
func pythonServedBy(p *project) {
	framework := ""
	for _, u := range p.units {
		for _, s := range u.signs {
			if s.kind == registers && s.framework != "grpcio" {
				framework = s.framework
			}
		}
	}
	if framework == "" || p.has(constructs) {
		return
	}
	for _, u := range p.units {
		for i := range u.signs {
			if u.signs[i].kind == registers {
				u.signs[i].framework = framework
			}
		}
	}
}

// pythonModule returns the last part of the module of a full name.
func pythonModule(full string) string {
	parts := strings.Split(full, ".")
	return parts[max(0, len(parts)-2)]
}
