// Package picture draws what the demo prints, for the README: docs/demo.svg. In goes the demo's output, out comes a
// picture that is the same for the same product, whatever machine the demo ran on. Begin with Draw; scripts/picture.sh
// writes the file, and the demo's test compares it with what the demo prints.
package picture

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Draw returns the picture, an SVG, of the output of the demo with Docker. The version is the product's, which stands
// for that of the commit that the demo was run on.
func Draw(demo, version string) ([]byte, error) {
	shown, err := excerpt(mask(demo, version))
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, line := range shown {
		lines = append(lines, wrap(line, columns)...)
	}
	return svg(lines), nil
}

// columns is how wide the terminal is, in characters.
const columns = 100

// masks take out what differs between two runs: where temporary files are, and the random names in Docker. They also
// take out what no user types: where the lifecycle is on a machine that pulls nothing.
var masks = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`health-probe-[a-z0-9]{10}/`), ""},
	{regexp.MustCompile(` --(?:lifecycle-image \S+|pull-policy never|trust-builder|no-color)\b`), ""},
	{regexp.MustCompile(`(docker exec) \S+`), "$1 my-app"},
	{regexp.MustCompile(`\S*/app-\d+`), "my-app"},
	{regexp.MustCompile(`\S*/dist/buildpack`), "dist/buildpack"},
	{regexp.MustCompile(`linux/(amd64|arm64)`), "linux/amd64"},
}

var programVersion = regexp.MustCompile(`(grpc_health_probe) \S+, lean`)

func mask(demo, version string) string {
	for _, m := range masks {
		demo = m.pattern.ReplaceAllString(demo, m.with)
	}
	return programVersion.ReplaceAllString(demo, "$1 v"+version+", lean")
}

// The parts that are shown, by their first and last lines. What pack and the lifecycle say between them is left out.
var parts = []struct{ from, to string }{
	{"$ pack build", "$ pack build"},
	{"[builder] gRPC Health Probe", "[builder]     readinessProbe"},
	{"the app serves", "exit 2"},
}

// excerpt returns the lines of the parts, with a line between two of them.
func excerpt(demo string) ([]string, error) {
	var shown []string
	rest := strings.Split(demo, "\n")
	for i, part := range parts {
		from := indexPrefix(rest, part.from)
		if from < 0 {
			return nil, fmt.Errorf("drawing the demo: it prints no line %q", part.from)
		}
		to := indexPrefix(rest[from:], part.to)
		if to < 0 {
			return nil, fmt.Errorf("drawing the demo: it prints no line %q after %q", part.to, part.from)
		}
		if i > 0 {
			shown = append(shown, "")
		}
		shown = append(shown, rest[from:from+to+1]...)
		rest = rest[from+to+1:]
	}
	if len(shown) > maxLines {
		return nil, errors.New("drawing the demo: it prints more than a picture holds")
	}
	return shown, nil
}

// maxLines keeps the picture within one screen.
const maxLines = 50

func indexPrefix(lines []string, prefix string) int {
	return slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, prefix) })
}

// wrap breaks a line at spaces. What follows is indented by four more than the line.
func wrap(line string, width int) []string {
	indentation := line[:len(line)-len(strings.TrimLeft(line, " "))] + "    "
	var lines []string
	for len(line) > width {
		at := strings.LastIndex(line[:width], " ")
		if at <= len(indentation) {
			break
		}
		lines = append(lines, line[:at])
		line = indentation + line[at+1:]
	}
	return append(lines, line)
}
