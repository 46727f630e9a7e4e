package detect

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

func init() {
	register(language{
		name:       "dart",
		title:      "Dart",
		frameworks: dartFrameworks,
		wants:      dartWants,
		look:       lookAtSources("pubspec.yaml", dartSource),
		conclude:   serversInFiles,
	})
}

// package:grpc has no health service: its server (lib/src/server/server.dart) has the services that it is given.
var dartFrameworks = []framework{
	{"grpc-dart", "`Server.create`, `Server([...])` of `package:grpc`; a subclass of a generated `XServiceBase`",
		"the app, by a subclass of `HealthServiceBase`",
		"generate code from grpc/health/v1/health.proto with protoc-gen-dart, write class HealthService extends HealthServiceBase " +
			"whose check answers HealthCheckResponse()..status = HealthCheckResponse_ServingStatus.SERVING, and put HealthService() " +
			"into the server's services"},
}

// dartNotOwn are folders that pub and Flutter keep tests, examples and output in (the pub package layout).
var dartNotOwn = exactly(`tests?|integration_test|test_driver|testing|example|examples|build|benchmark|doc|tool`)

// dartGenerated are the files of protoc-gen-dart and of build_runner.
var dartGenerated = exactly(`.*\.(pb|pbgrpc|pbenum|pbjson|pbserver|g|freezed|mocks|config|gr)\.dart|.*_test\.dart`)

func dartWants(p string) bool {
	name := path.Base(p)
	if !strings.HasSuffix(p, ".dart") && name != "pubspec.yaml" {
		return false
	}
	return !dartGenerated.MatchString(name) && !inFolder(p, dartNotOwn)
}

var dartWords = lookFor("package:grpc", "Server.create", "ServiceBase")

func dartSource(text []byte) *sheet {
	if !dartWords.in(text) {
		return nil
	}
	s := dartGrammar.read(text)
	imports := s.imports(dartImport)
	signs := dartImplementations(s, s.find(dartClues, imports))
	if len(signs) == 0 || slices.ContainsFunc(imports, dartTestOnly.MatchString) {
		return nil
	}
	if !makes(signs) {
		return &sheet{signs: signs}
	}
	values := s.values(";,", dartDeclared)
	for _, m := range dartServe.FindAllSubmatchIndex(s.code, maxListens) {
		signs = append(signs, sign{kind: listens, port: dartPort(s, values, m[1])})
	}
	return &sheet{signs: signs}
}

var (
	dartImport = regexp.MustCompile(`\bimport\s+['"](?P<name> *)['"]`)
	// The libraries of package:grpc that have its server.
	dartGRPC     = exactly(`package:grpc/(grpc|src/server/server)\.dart`)
	dartTestOnly = exactly(`package:(test|flutter_test|mockito|mocktail)/.*`)
)

var dartMakes = sign{kind: constructs, framework: "grpc-dart"}

var dartClues = []clue{
	// An app may export package:grpc from a file of its own: the named argument alone tells.
	{code: regexp.MustCompile(`\bServer\.create\s*\([^;]*?\bservices\s*:`), sign: dartMakes},
	{code: regexp.MustCompile(`\bServer\.create\s*\(\s*\[`), imports: dartGRPC, sign: dartMakes},
	{code: regexp.MustCompile(`(?:[^.\w]|\w\.)(?P<at>(?:Connection)?Server\s*\()\s*(?:services\s*:|(?:<\s*(?:\w+\.)?Service\s*>\s*)?\[)`),
		imports: dartGRPC, sign: dartMakes},
	{code: regexp.MustCompile(`\bextends\s+(?P<at>(?:\w+\.)?\w+ServiceBase)\b`),
		sign: sign{kind: registers, framework: "grpc-dart"}},
}

var (
	dartCall        = regexp.MustCompile(`\bServiceCall\b`)
	dartHealthStubs = regexp.MustCompile(`\bHealthCheckRequest\b`)
)

// dartImplementations drops the subclasses of other classes of such a name: a gRPC service's methods take a ServiceCall.
// The health service is told by its messages: an app may have one of that name.
func dartImplementations(s *source, signs []sign) []sign {
	calls, checks := dartCall.Match(s.code), dartHealthStubs.Match(s.code)
	signs = slices.DeleteFunc(signs, func(s sign) bool { return s.kind == registers && !calls })
	for i := range signs {
		if checks && strings.HasSuffix(signs[i].what, "HealthServiceBase") {
			signs[i] = sign{kind: health, line: signs[i].line, what: signs[i].what}
		}
	}
	return signs
}

var (
	dartServe    = regexp.MustCompile(`\.\s*serve\s*\(`)
	dartPortArg  = regexp.MustCompile(`\bport\s*:\s*`)
	dartDeclared = regexp.MustCompile(`\b(?:final|const|var|int|String|late)\s+(?:(?:int|String)\??\s+)?(?P<name>\w+)\s*=\s+`)
)

// dartPort returns the port among the arguments of serve, from an offset.
func dartPort(s *source, values *values, from int) int {
	to := s.until(from, "")
	m := dartPortArg.FindIndex(s.code[from:to])
	if m == nil || dartUnix.Match(s.code[from:to]) {
		return noPort
	}
	return values.port(span{from + m[1], s.until(from+m[1], ",")})
}

var dartUnix = regexp.MustCompile(`\bInternetAddressType\.unix\b`)

// dartGrammar is how Dart writes comments and strings (its language specification, Strings and Comments).
var dartGrammar = grammar{
	toLineEnd("//"),
	between("/*", "*/", true),
	dartRaw(`r'''`, `'''`), dartRaw(`r"""`, `"""`), dartRaw(`r'`, `'`), dartRaw(`r"`, `"`),
	quoted(`'''`, `'''`, quoting{multiline: true, embeds: "${"}), quoted(`"""`, `"""`, quoting{multiline: true, embeds: "${"}),
	quoted(`'`, `'`, quoting{embeds: "${"}), quoted(`"`, `"`, quoting{embeds: "${"}),
}

func dartRaw(open, closing string) lexeme {
	l := quoted(open, closing, quoting{raw: true, multiline: len(closing) > 1})
	l.starts = func(text []byte, at int) bool { return at == 0 || !wordByte(text[at-1]) }
	return l
}
