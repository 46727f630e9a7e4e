package integration

import (
	"encoding/xml"
	"os"
	"regexp"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// springBoot is what an example for Spring Boot has its build do.
type springBoot struct {
	buildpacks []string
	env        []string // NAME=value
}

// TestSpringBootExamples builds with the buildpacks and variables that the examples for Spring Boot list. Spring Boot
// takes fewer forms of references than pack, and these. The path of the probe is a whole exec probe then, on Spring
// gRPC's port.
func TestSpringBootExamples(t *testing.T) {
	t.Parallel()
	needDocker(t)
	platform := must(docker())(t)
	config := localImages(platform)
	config["buildpacks"] = []table{{"uri": must(fixture.StandIn("paketo-buildpacks/java", "0.0.1"))(t)}}
	config["order"] = []table{{"group": []table{{"id": "paketo-buildpacks/java"}}}}
	builder := must(platform.CreateBuilder(t.Context(), "builder-spring-boot", encode(t, config)))(t)
	for name, example := range map[string]springBoot{"maven": readMaven(t), "gradle": readGradle(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flags := []string{"--builder", builder}
			for _, uri := range example.buildpacks {
				flags = append(flags, "-b", uri)
			}
			flags[len(flags)-1] = withLocalProduct(t, flags[len(flags)-1])
			build := harness.Build{Name: "spring-boot-" + name, App: must(sample())(t), Env: example.env}
			image := must(platform.PackBuild(t.Context(), build, flags...))(t)
			wantExit(t, serve(t, platform, image, "-grpc=:9090"), 0, harness.ProbePath)
		})
	}
}

func readMaven(t *testing.T) springBoot {
	t.Helper()
	var project struct {
		Image struct {
			Buildpacks []string `xml:"buildpacks>buildpack"`
			Env        struct {
				Variables []struct {
					XMLName xml.Name
					Value   string `xml:",chardata"`
				} `xml:",any"`
			} `xml:"env"`
		} `xml:"build>plugins>plugin>configuration>image"`
	}
	if err := xml.Unmarshal(must(os.ReadFile("../examples/spring-boot/pom.xml"))(t), &project); err != nil {
		t.Fatal(err)
	}
	example := springBoot{buildpacks: project.Image.Buildpacks}
	for _, variable := range project.Image.Env.Variables {
		example.env = append(example.env, variable.XMLName.Local+"="+variable.Value)
	}
	return example
}

func readGradle(t *testing.T) springBoot {
	t.Helper()
	text := string(must(os.ReadFile("../examples/spring-boot/build.gradle"))(t))
	var example springBoot
	for _, match := range regexp.MustCompile(`'((?:urn|docker):[^']+)'`).FindAllStringSubmatch(text, -1) {
		example.buildpacks = append(example.buildpacks, match[1])
	}
	for _, match := range regexp.MustCompile(`'(BP_\w+)': '([^']+)'`).FindAllStringSubmatch(text, -1) {
		example.env = append(example.env, match[1]+"="+match[2])
	}
	return example
}
