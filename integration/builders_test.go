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

// TestExampleBuilders has pack make a builder of each file in examples/builders and builds with it. Their tables are
// given to pack as they are, except what would be pulled.
func TestExampleBuilders(t *testing.T) {
	t.Parallel()
	needDocker(t)
	for _, path := range must(filepath.Glob("../examples/builders/*.toml"))(t) {
		name := strings.TrimSuffix(filepath.Base(path), ".toml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			platform := must(docker())(t)
			builder := must(platform.CreateBuilder(t.Context(), "builder-"+name, exampleBuilder(t, platform, path)))(t)
			wantProbeWhereServed(t, platform, "builder-of-"+name, "--builder", builder)
		})
	}
}

// wantProbeWhereServed builds an app that serves gRPC, which gets the probe, and one that does not, which is built all
// the same.
func wantProbeWhereServed(t *testing.T, platform *harness.Docker, name string, flags ...string) {
	t.Helper()
	build := harness.Build{Name: name, App: must(sample())(t)}
	image := must(platform.PackBuild(t.Context(), build, flags...))(t)
	wantEqual(t, image, "layers", len(ourLayers(t, image)), 2) // the probe, and its default port
	wantServing(t, platform, image)

	build = harness.Build{
		Name: name + "-no-grpc", App: must(fixture.Stage(map[string]string{"Procfile": "web: none\n"}))(t),
	}
	image = must(platform.PackBuild(t.Context(), build, flags...))(t)
	wantEqual(t, image, "layers", len(ourLayers(t, image)), 0)
	wantEqual(t, image, "processes", processes(t, image), []string{"web"})
}

// exampleBuilder reads a builder.toml and returns it with local images, the tests' lifecycle and stand-ins for the
// buildpacks of others. It must have the product as an optional system buildpack, or each of its groups must end with
// it.
func exampleBuilder(t *testing.T, platform *harness.Docker, path string) string {
	t.Helper()
	config := decode(t, path)
	maps.Copy(config, localImages(platform))
	for _, buildpack := range config["buildpacks"].([]table) {
		substitute(t, path, buildpack)
	}
	var members []table
	if system, ok := config["system"].(table); ok {
		members = system["post"].(table)["buildpacks"].([]table)
	} else {
		for _, order := range config["order"].([]table) {
			group := order["group"].([]table)
			members = append(members, group[len(group)-1])
		}
	}
	for _, member := range members {
		if member["id"] != buildpackID || member["optional"] != true {
			t.Errorf("%s has %v at the end of a group, want %s, optional", path, member, buildpackID)
		}
	}
	return encode(t, config)
}

// localImages are the tables of a builder.toml that say what is pulled.
func localImages(platform *harness.Docker) table {
	return table{
		"build":     table{"image": platform.Name("build")},
		"run":       table{"images": []table{{"image": platform.Name("run")}}},
		"lifecycle": table{"uri": platform.Lifecycle()},
	}
}

// TestCompositeBuildpack packages the buildpack in examples/composite, which has the product in its order, and builds
// with it.
func TestCompositeBuildpack(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	file := composite(t, platform, folder())

	wantProbeWhereServed(t, platform, "composite", "-b", file)
}

// composite packages the buildpack in examples/composite, with the product from a URI, and returns the file.
func composite(t *testing.T, platform *harness.Docker, product string, flags ...string) string {
	t.Helper()
	config := decode(t, "../examples/composite/package.toml")
	app := decode(t, "../examples/composite/buildpack.toml")["order"].([]table)[0]["group"].([]table)[0]
	for _, dependency := range config["dependencies"].([]table) {
		standIn := maps.Clone(dependency)
		standIn["id"], standIn["version"] = app["id"], app["version"]
		substitute(t, "../examples/composite/package.toml", standIn)
		dependency["uri"] = standIn["uri"]
		if standIn["uri"] == must(filepath.Abs(folder()))(t) {
			dependency["uri"] = product
		}
	}
	made := must(fixture.Stage(map[string]string{
		"buildpack.toml": string(must(os.ReadFile("../examples/composite/buildpack.toml"))(t)),
		"package.toml":   encode(t, config),
	}))(t)
	file := filepath.Join(made, "composite.cnb")
	must(platform.Pack(t.Context(), append([]string{
		"buildpack", "package", file, "--format", "file", "--pull-policy", "never", "--config",
		filepath.Join(made, "package.toml"), "--target", "linux/" + arch,
	}, flags...)...))(t)
	return file
}

// TestOldestLifecycle builds with the oldest lifecycle that knows the buildpack's API, twice.
func TestOldestLifecycle(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(dockerOldest())(t)
	build := harness.Build{Name: "oldest", App: must(sample())(t), Env: []string{argsEnv + "-addr=localhost:5000"}}
	first := must(platform.Build(t.Context(), build))(t)
	metadata := must(first.Label("io.buildpacks.build.metadata"))(t)
	if want := `"launcher":{"version":"0.17.0"`; !strings.Contains(metadata, want) {
		t.Errorf("the image's metadata have no %s: %s", want, metadata)
	}
	server := serve(t, platform, first)
	wantExit(t, server, 0, harness.ProbePath)
	second := must(platform.Build(t.Context(), build))(t)
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

// substitute makes the URI of a buildpack in the file one that is here: of the product, and of stand-ins for the
// others, with their IDs and versions.
func substitute(t *testing.T, file string, buildpack table) {
	t.Helper()
	if uri := buildpack["uri"].(string); strings.Contains(uri, buildpackID) {
		buildpack["uri"] = withLocalProduct(t, uri)
		return
	}
	id, ok := buildpack["id"].(string)
	if !ok {
		t.Fatalf("%s has a buildpack without an ID that is not this one: %v", file, buildpack)
	}
	version, ok := buildpack["version"].(string)
	if !ok {
		version = "0.0.1"
	}
	buildpack["uri"] = must(fixture.StandIn(id, version))(t)
}
