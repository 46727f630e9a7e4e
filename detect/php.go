package detect

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

func init() {
	register(language{
		name:       "php",
		title:      "PHP",
		frameworks: phpFrameworks,
		wants:      phpWants,
		look:       phpLook,
		conclude:   phpConclude,
	})
}

var phpFrameworks = []framework{
	{"roadrunner", "a `grpc:` section with `listen` in `.rr.yaml`, `GRPC\\Server`, `GRPCBootloader`",
		"RoadRunner, whose gRPC plugin does from v2.10.0 on",
		"run the app with RoadRunner 2.10 or newer, with its workers on spiral/roadrunner-grpc: it registers grpc.health.v1 itself"},
	{"hyperf", "`Hyperf\\GrpcServer\\Server` as a server's callback", "the app, by a route `/grpc.health.v1.Health`",
		"Router::addServer('grpc', function () { Router::post('/grpc.health.v1.Health/Check', " +
			"[App\\Grpc\\Health::class, 'check']); }), where check returns a \\Grpc\\Health\\V1\\HealthCheckResponse with status 1"},
	{"openswoole", "`new OpenSwoole\\GRPC\\Server`", "the app, by a class that implements `HealthInterface`",
		"$server->register(HealthService::class), a class that implements the \\Grpc\\Health\\V1\\HealthInterface generated of " +
			"grpc/health/v1/health.proto"},
	{"grpc-php", "`new Grpc\\RpcServer`", "the app, by a class that extends `HealthStub`",
		"$server->handle(new HealthService()), a class that extends the \\Grpc\\Health\\V1\\HealthStub generated of " +
			"grpc/health/v1/health.proto"},
}

// phpNotOwn are folders whose code is in no program of the app: tests, protoc's output, and what frameworks write while
// they run (Hyperf's runtime, Laravel's storage). The walk itself leaves out vendor.
var phpNotOwn = []string{"test", "tests", "Test", "Tests", "spec", "fixtures", "Fixtures", "GPBMetadata", "runtime", "storage"}

// phpRunnerFile are RoadRunner's settings files.
var phpRunnerFile = regexp.MustCompile(`^(?:\.?rr(?:[._-][\w.-]+)?|\.?roadrunner)\.ya?ml$`)

func phpWants(p string) bool {
	name := path.Base(p)
	switch path.Ext(p) {
	case ".php":
		if strings.HasSuffix(name, "Test.php") || strings.HasSuffix(name, ".blade.php") || strings.HasPrefix(name, "_ide_helper") {
			return false
		}
	case ".yaml", ".yml":
		if !phpRunnerFile.MatchString(name) {
			return false
		}
	default:
		if name != "composer.json" {
			return false
		}
	}
	return !inOneOf(p, phpNotOwn)
}

func phpLook(f *file) (*sheet, error) {
	if path.Ext(f.path) == ".json" {
		return &sheet{root: true}, nil
	}
	text, err := f.text()
	if err != nil {
		return nil, err
	}
	if path.Ext(f.path) != ".php" {
		signs, err := phpRunner(text)
		if err != nil {
			return nil, err
		}
		return &sheet{signs: signs, own: phpRunnerSettings{}}, nil
	}
	signs := phpSource(text)
	if len(signs) == 0 {
		return nil, nil
	}
	return &sheet{signs: signs}, nil
}

// phpRunnerSettings is what a settings file of RoadRunner says: that RoadRunner runs the project, and serves what the file
// names.
type phpRunnerSettings struct{}

func phpConclude(facts []fact, note func(format string, args ...any)) []Service {
	all := projects(facts, phpUnit)
	for _, p := range all {
		run := slices.ContainsFunc(p.facts, func(f fact) bool { _, ok := f.own.(phpRunnerSettings); return ok })
		if run && !p.has(constructs) {
			p.phpServesNoGRPC()
		}
	}
	return servers(all, note)
}

// phpUnit is a file, or RoadRunner's settings in a folder: their variants run one app.
func phpUnit(file string) string {
	if phpRunnerFile.MatchString(path.Base(file)) {
		return path.Join(path.Dir(file), ".rr.yaml")
	}
	return file
}

// phpServesNoGRPC drops the workers of a project whose RoadRunner has no gRPC section: nothing is served to them.
func (p *project) phpServesNoGRPC() {
	for _, u := range p.units {
		u.signs = slices.DeleteFunc(u.signs, func(s placed) bool { return s.kind == registers && s.framework == "roadrunner" })
	}
}
