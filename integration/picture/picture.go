// Package picture draws the demo's output for the README: docs/demo.svg. In goes the demo's output, out comes a picture
// that is the same for the same product, whatever machine the demo ran on. Begin with Draw; the demo's test compares
// the file with the demo's output, and writes the file with UPDATE_GOLDEN=1.
package picture

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Draw returns a picture, an SVG, of the output of the demo with Docker. The version is the product's and replaces the
// version of the demo's commit.
func Draw(demo, version string) ([]byte, error) {
	shown, err := excerpt(mask(demo, version))
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, line := range shown {
		lines = append(lines, wrap(line, columns)...)
	}
	return svg(lines)
}

// columns is the width of the terminal in characters.
const columns = 100

// masks remove the differences between two runs (paths of temporary files, random names in Docker) and the flags that
// no user types (for a machine that pulls nothing).
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

// The shown parts, by first and last line, without the output of pack and the lifecycle between the parts.
var parts = []struct{ from, to string }{
	{"$ pack build", "$ pack build"},
	{"[builder] gRPC Health Probe", "[builder]     readinessProbe"},
	{"the app serves", "exit 2"},
}

// excerpt returns the lines of the parts, with an empty line between two parts.
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

// wrap breaks a line at spaces. The following lines are indented by four more than the first.
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
