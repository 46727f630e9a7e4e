package picture

import (
	"bytes"
	_ "embed"
	"strings"
	"text/template"
)

// Measures in pixels. A monospaced character is 0.6 of the font size wide, or a little more.
const (
	fontSize   = 13
	charWidth  = 7.9
	lineHeight = 18
	margin     = 18
)

// demoTemplate follows the reader's choice of light and dark, and shows lines one after another unless the reader wants
// no motion.
//
//go:embed demo.svg.tmpl
var demoTemplate string

type svgLine struct {
	Number, Y   int
	Class, Text string
}

// kinds are the classes of lines, by prefix.
var kinds = []struct{ prefix, class string }{
	{"$ ", "command"},
	{"status: SERVING", "good"},
	{"error: ", "bad"},
	{"hint: ", "hint"},
	{"exit ", "dim"},
	{"[builder]", ""},
	{" ", ""},
	{"", "dim"}, // the demo's own words
}

func class(line string) string {
	for _, kind := range kinds {
		if strings.HasPrefix(line, kind.prefix) {
			return kind.class
		}
	}
	return ""
}

func svg(lines []string) ([]byte, error) {
	shown := []svgLine{}
	for i, line := range lines {
		if strings.TrimSpace(line) != "" {
			shown = append(shown, svgLine{i, margin + fontSize + i*lineHeight, class(line), line})
		}
	}
	width, height := int(columns*charWidth)+2*margin, len(lines)*lineHeight+2*margin
	return fill(demoTemplate, map[string]any{
		"Width": width, "Height": height, "InnerWidth": width - 1, "InnerHeight": height - 1, "Margin": margin,
		"Lines": shown,
	})
}

// fill executes a template that escapes texts by itself.
func fill(text string, data any) ([]byte, error) {
	var out bytes.Buffer
	err := template.Must(template.New("").Parse(text)).Execute(&out, data)
	return out.Bytes(), err
}
