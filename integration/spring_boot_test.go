package integration

import (
	"encoding/xml"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// TestSpringBootExamples builds with the buildpacks that the examples for Spring Boot list. Spring Boot takes fewer forms of
// references than pack, and these.
func TestSpringBootExamples(t *testing.T) {
	t.Parallel()
	needDocker(t)
	road := must(docker())(t)
	config := localImages(road)
	config["buildpacks"] = []table{{"uri": must(kit.StandIn("paketo-buildpacks/java", "0.0.1"))(t)}}
	config["order"] = []table{{"group": []table{{"id": "paketo-buildpacks/java"}}}}
	builder := must(road.CreateBuilder(t.Context(), "builder-spring-boot", encode(t, config)))(t)
	for name, buildpacks := range map[string][]string{"maven": mavenBuildpacks(t), "gradle": gradleBuildpacks(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flags := []string{"--builder", builder}
			for _, uri := range buildpacks {
				const file = "/path/to/health-probe-linux-amd64.tgz"
				flags = append(flags, "-b", strings.Replace(uri, file, kit.Dist("health-probe-linux-"+arch+".tgz"), 1))
			}
			image := must(road.PackBuild(t.Context(), harness.Build{Name: "spring-boot-" + name, App: must(sample())(t)}, flags...))(t)
			wantServing(t, road, image)
		})
	}
}

func mavenBuildpacks(t *testing.T) []string {
	t.Helper()
	var project struct {
		Buildpacks []string `xml:"build>plugins>plugin>configuration>image>buildpacks>buildpack"`
	}
	if err := xml.Unmarshal(must(os.ReadFile("../examples/spring-boot/pom.xml"))(t), &project); err != nil {
		t.Fatal(err)
	}
	return project.Buildpacks
}

func gradleBuildpacks(t *testing.T) []string {
	t.Helper()
	text := must(os.ReadFile("../examples/spring-boot/build.gradle"))(t)
	var buildpacks []string
	for _, match := range regexp.MustCompile(`'((?:urn|file):[^']+)'`).FindAllSubmatch(text, -1) {
		buildpacks = append(buildpacks, string(match[1]))
	}
	return buildpacks
}
