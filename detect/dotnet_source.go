package detect

import (
	"bytes"
	"path"
	"regexp"
	"strings"
)

// The kinds of signs in .NET sources that what lies around them makes general ones of, or nothing.
const (
	dotnetMaps       kind = ownKinds + iota // a class is mapped: a service, or the health service
	dotnetMapsAny                           // any class is mapped, by a helper of the app's own
	dotnetAdds                              // gRPC's services are added: a server, where nothing is mapped in the sources
	dotnetDefines                           // AddGrpc is the app's own extension
	dotnetImplements                        // a generated base class is implemented
	dotnetPipes                             // gRPC over named pipes: no port, no HTTP/2
	dotnetIsHealth                          // a class is an implementation of the health service
	dotnetKestrel                           // a port is named, for ASP.NET Core's server
)

const dotnetReceiver = `[\w)>\]]\s*\.\s*`

// dotnetClues are the calls that decide. Definitions of them have no receiver: those are frameworks' own.
var dotnetClues = []clue{
	{code: regexp.MustCompile(dotnetReceiver + `(?P<at>MapMagicOnionService\s*(?:<[^>;]*>\s*)?\()`), sign: sign{kind: registers, framework: dotnetMagicOnion}},
	{code: regexp.MustCompile(dotnetReceiver + `(?P<at>UseMagicOnion\s*\()`), sign: sign{kind: registers, framework: dotnetMagicOnion}},
	{code: regexp.MustCompile(dotnetReceiver + `(?P<at>AddMagicOnion\s*\()`), sign: sign{kind: dotnetAdds, framework: dotnetMagicOnion}},
	{code: regexp.MustCompile(dotnetReceiver + `(?P<at>AddServiceStackGrpc\s*\()`), sign: sign{kind: registers, framework: dotnetServiceStack}},
	{code: regexp.MustCompile(`\b(?i:new)\s+(?P<at>GrpcFeature\s*\()`), sign: sign{kind: registers, framework: dotnetServiceStack}},
	{code: regexp.MustCompile(dotnetReceiver + `(?P<at>AddCodeFirstGrpc\s*\()`), sign: sign{kind: dotnetAdds, framework: dotnetCodeFirst}},
	// Saturn.Extensions.gRPC adds and maps in one word.
	{code: regexp.MustCompile(`(?m)^\s*(?P<at>use_grpc)\s`), imports: exactly(`Saturn`), sign: sign{kind: registers, framework: dotnetCodeFirst}},
	{code: regexp.MustCompile(dotnetReceiver + `(?P<at>AddGrpc\s*\()`), sign: sign{kind: dotnetAdds, framework: dotnetAspNetCore}},
	{code: regexp.MustCompile(`\b(?P<at>AddGrpc)\s*\(\s*this\b`), sign: sign{kind: dotnetDefines}},
	// Mapped by reflection: any class.
	{code: regexp.MustCompile(`\b(?i:typeof|nameof|typedefof|GetType)\s*[(<]\s*(?:Of\s+)?(?P<at>(?:\w+\.)*GrpcEndpointRouteBuilderExtensions)\b`),
		sign: sign{kind: dotnetMapsAny, framework: dotnetAspNetCore}},
	{code: regexp.MustCompile(dotnetReceiver + `(?P<at>MapGrpcHealthChecksService\s*\()`), sign: sign{kind: health}},
	{code: regexp.MustCompile(`\b(?P<at>Health\.BindService)\s*\(`), sign: sign{kind: health}},
	{code: regexp.MustCompile(`\b(?P<at>NamedPipeServer)\s*\(`), imports: exactly(`GrpcDotNetNamedPipes`), sign: sign{kind: dotnetPipes}},
}

// dotnetServer is a Server of Grpc.Core that is made. Other libraries have a Server too: dotnetServes holds it against what
// the file does with it.
var (
	dotnetServer = regexp.MustCompile(`\b(?i:new)\s+(?P<at>(?:global::)?(?:Grpc\.Core\.)?Server)\s*(?:[({]|With\b|$)|` +
		`\b(?P<typed>Server)\s+\w+\s*=\s*new\s*\(`)
	fsharpServer = regexp.MustCompile(`[=(|>]\s*(?:new\s+)?(?P<at>(?:Grpc\.Core\.)?Server)\s*\(`)
	dotnetServes = regexp.MustCompile(`\bServerPort\b|\.BindService\b|\bServices\b|\bBuildServerServiceDefinition\b`)
)

var dotnetImport = regexp.MustCompile(`(?m)^\s*(?:global\s+)?(?:using(?:\s+static)?|open|Imports)\s+(?:\w+\s*=\s*)?(?P<name>[\w.]+)`)

// dotnetMapping takes the class that is mapped: MapGrpcService<T>, or MapGrpcService(Of T).
var dotnetMapping = regexp.MustCompile(dotnetReceiver + `(?P<at>MapGrpcService)\s*(?:<|\(\s*Of\s+)\s*(?P<class>[\w.:']+)`)

// dotnetClass takes a class and the generated class that it derives from: Greeter.GreeterBase.
var dotnetClass = regexp.MustCompile(`\b(?:class|Class|type)\s+(?P<class>\w+)[^{;=]*?(?:\)\s*=\s*)?(?::|\binherit\b|\bInherits\b)\s*` +
	`(?P<base>(?:global::)?(?:\w+\.)*\w*(?:Base|HealthServiceImpl))\b`)

// dotnetHealthBase is the base class of the health service, and the package's own implementation of it.
var dotnetHealthBase = regexp.MustCompile(`(?:^|\.)(?:HealthBase|HealthServiceImpl)$`)

var dotnetHealthNames = []byte("Grpc.Health.V1")

// dotnetSource reads a source with this ending; a nil value where it says nothing.
func dotnetSource(ext string, text []byte) *sheet {
	if !dotnetMayDecide(text) {
		return nil
	}
	s := dotnetGrammars[ext].read(trimBOM(text))
	imports := s.imports(dotnetImport)
	signs := s.find(dotnetClues, imports)
	signs = append(signs, s.dotnetMapped()...)
	signs = append(signs, s.dotnetServers(ext, imports)...)
	signs = append(signs, s.dotnetDerived()...)
	signs = append(signs, s.dotnetListeners()...)
	if len(signs) == 0 {
		return nil
	}
	return &sheet{signs: signs}
}

// dotnetMayDecide reports whether the bytes hold a word of any sign, and are not generated.
func dotnetMayDecide(text []byte) bool {
	if head := text[:min(len(text), 1024)]; bytes.Contains(head, []byte("<auto-generated")) || bytes.Contains(head, []byte("<autogenerated")) {
		return false
	}
	return dotnetWords.in(text)
}

var dotnetWords = lookFor("Grpc", "use_grpc", "MagicOnion", "Kestrel", "Listen", "UseUrls", "Urls.Add", ".Run(", ".RunAsync(")

// dotnetTypeParameter is a class that a generic helper is given: T, TService, 'a.
var dotnetTypeParameter = exactly(`T|T\p{Lu}\p{Ll}\w*|'\w+`)

// dotnetReflection is the reflection service, of Grpc.AspNetCore.Server.Reflection or of protobuf-net.Grpc: it is no service
// of an app's.
var dotnetReflection = exactly(`ReflectionService|ReflectionServiceImpl`)

func (s *source) dotnetMapped() []sign {
	var found []sign
	for _, m := range dotnetMapping.FindAllSubmatchIndex(s.code, -1) {
		class, _ := s.group(dotnetMapping, m, "class")
		at := m[2*dotnetMapping.SubexpIndex("at")]
		it := sign{kind: dotnetMaps, line: s.line(at), what: onOneLine(s.text[at:m[1]]), framework: dotnetAspNetCore, from: lastName(class)}
		if dotnetReflection.MatchString(it.from) {
			continue
		}
		if dotnetTypeParameter.MatchString(it.from) {
			it.kind = dotnetMapsAny
		}
		found = append(found, it)
	}
	return found
}

// lastName returns a qualified name's last part.
func lastName(name string) string {
	return strings.TrimPrefix(path.Ext("."+strings.ReplaceAll(name, "::", ".")), ".")
}

func (s *source) dotnetServers(ext string, imports []string) []sign {
	if !bytes.Contains(s.code, []byte("Grpc.Core")) || !dotnetServes.Match(s.code) {
		return nil
	}
	pattern := dotnetServer
	if ext == ".fs" {
		pattern = fsharpServer
	}
	return s.find([]clue{{code: pattern, sign: sign{kind: constructs, framework: dotnetCore}}}, imports)
}

// dotnetDerived takes classes that implement a generated service: its base is in a class of the same name.
func (s *source) dotnetDerived() []sign {
	var found []sign
	for _, m := range dotnetClass.FindAllSubmatchIndex(s.code, -1) {
		class, _ := s.group(dotnetClass, m, "class")
		base, _ := s.group(dotnetClass, m, "base")
		outer, inner := path.Split(strings.ReplaceAll(base, ".", "/"))
		it := sign{line: s.line(m[0]), from: class}
		switch {
		case dotnetHealthBase.MatchString(base):
			if bytes.Contains(s.code, dotnetHealthNames) {
				it.kind = dotnetIsHealth
				found = append(found, it)
			}
		case inner == path.Base(outer)+"Base":
			it.kind, it.framework, it.what = dotnetImplements, dotnetAspNetCore, class+": "+base
			found = append(found, it)
		}
	}
	return found
}
