package integration

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// TestExampleBuilders has pack make a builder of each file in examples/builders and builds with it. Their tables are given
// to pack as they are, but for what would be pulled.
func TestExampleBuilders(t *testing.T) {
	t.Parallel()
	needDocker(t)
	for _, path := range must(filepath.Glob("../examples/builders/*.toml"))(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".toml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			road := must(docker())(t)
			builder := must(road.CreateBuilder(t.Context(), "builder-"+name, exampleBuilder(t, road, path)))(t)
			build := harness.Build{Name: "builder-of-" + name, App: must(sample())(t)}
			wantServing(t, road, must(road.PackBuild(t.Context(), build, "--builder", builder))(t))
		})
	}
}

// exampleBuilder reads a builder.toml and returns it with local images, the tests' lifecycle and stand-ins for the buildpacks
// of others. Each of its groups must end with the product, optional.
func exampleBuilder(t *testing.T, road *harness.Docker, path string) string {
	t.Helper()
	config := decode(t, path)
	maps.Copy(config, localImages(road))
	for _, buildpack := range config["buildpacks"].([]table) {
		substitute(t, path, buildpack)
	}
	for _, order := range config["order"].([]table) {
		group := order["group"].([]table)
		if last := group[len(group)-1]; last["id"] != buildpackID || last["optional"] != true {
			t.Errorf("%s has a group that ends with %v, want %s, optional", path, last, buildpackID)
		}
	}
	return encode(t, config)
}

// localImages are the tables of a builder.toml that say what is pulled.
func localImages(road *harness.Docker) table {
	return table{
		"build":     table{"image": road.Name("build")},
		"run":       table{"images": []table{{"image": road.Name("run")}}},
		"lifecycle": table{"uri": road.Lifecycle()},
	}
}

// TestCompositeBuildpack packages the buildpack in examples/composite, which has the product in its order, and builds with
// it.
func TestCompositeBuildpack(t *testing.T) {
	t.Parallel()
	needDocker(t)
	road := must(docker())(t)
	config := decode(t, "../examples/composite/package.toml")
	app := decode(t, "../examples/composite/buildpack.toml")["order"].([]table)[0]["group"].([]table)[0]
	for _, dependency := range config["dependencies"].([]table) {
		standIn := maps.Clone(dependency)
		standIn["id"], standIn["version"] = app["id"], app["version"]
		substitute(t, "../examples/composite/package.toml", standIn)
		dependency["uri"] = standIn["uri"]
	}
	composite := must(kit.Stage(map[string]string{
		"buildpack.toml": string(must(os.ReadFile("../examples/composite/buildpack.toml"))(t)),
		"package.toml":   encode(t, config),
	}))(t)
	file := filepath.Join(composite, "composite.cnb")
	must(road.Pack(t.Context(), "buildpack", "package", file, "--format", "file", "--pull-policy", "never",
		"--config", filepath.Join(composite, "package.toml"), "--target", "linux/"+arch))(t)

	for name, test := range map[string]struct {
		app   string
		wants int // layers
	}{
		"grpc":    {must(sample())(t), 1},
		"no-grpc": {must(kit.Stage(map[string]string{"Procfile": "web: none\n"}))(t), 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			image := must(road.PackBuild(t.Context(), harness.Build{Name: "composite-" + name, App: test.app}, "-b", file))(t)
			wantEqual(t, image, "layers", len(ourLayers(t, image)), test.wants)
			if test.wants > 0 {
				wantServing(t, road, image)
			}
		})
	}
}

// TestOldestLifecycle builds with the oldest lifecycle that knows the buildpack's API, twice.
func TestOldestLifecycle(t *testing.T) {
	t.Parallel()
	needDocker(t)
	road := must(dockerOldest())(t)
	build := harness.Build{Name: "oldest", App: must(sample())(t), Env: []string{argsEnv + "-addr=localhost:5000"}}
	first := must(road.Build(t.Context(), build))(t)
	metadata := must(first.Label("io.buildpacks.build.metadata"))(t)
	if want := `"launcher":{"version":"0.17.0"`; !strings.Contains(metadata, want) {
		t.Errorf("the image's metadata have no %s: %s", want, metadata)
	}
	server := serve(t, road, first)
	wantExit(t, server, 0, harness.ProbePath)
	second := must(road.Build(t.Context(), build))(t)
	wantEqual(t, second, "diffIDs", diffIDs(t, second), diffIDs(t, first))
}

// table is one of a TOML file that is passed on with all that it has.
type table = map[string]any

func decode(t *testing.T, path string) table {
	t.Helper()
	var config table
	if _, err := toml.DecodeFile(path, &config); err != nil {
		t.Fatalf("reading %q: %v", path, err)
	}
	return config
}

func encode(t *testing.T, config table) string {
	t.Helper()
	return string(must(toml.Marshal(config))(t))
}

// substitute makes the URI of a buildpack in the file one that is here: of the product, whose URI is a path that must be
// there, and of stand-ins for the others, with their IDs and versions.
func substitute(t *testing.T, file string, buildpack table) {
	t.Helper()
	path := must(filepath.Abs(filepath.Join(filepath.Dir(file), buildpack["uri"].(string))))(t)
	if path == must(filepath.Abs(folder()))(t) {
		buildpack["uri"] = path
		return
	}
	id, ok := buildpack["id"].(string)
	if !ok {
		t.Fatalf("%s has a buildpack without an ID that is not in %s: %v", file, folder(), buildpack)
	}
	version, ok := buildpack["version"].(string)
	if !ok {
		version = "0.0.1"
	}
	buildpack["uri"] = must(kit.StandIn(id, version))(t)
}
