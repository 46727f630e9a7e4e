package picture

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
)

// Measures in pixels. A character of a monospaced font is 0.6 of its size wide, or a little more.
const (
	fontSize   = 13
	charWidth  = 7.9
	lineHeight = 18
	margin     = 18
)

const title = "The gRPC Health Probe buildpack at work"

const description = "A terminal: pack build makes an image of a gRPC app, and the probe in it exits 0 while the app " +
	"serves, " +
	"4 while it says NOT_SERVING, and 2 when its gRPC server has stopped."

// style follows the reader's choice of light and dark, and lets lines appear one after the other unless the reader
// wants no motion.
const style = `
  text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #24292f }
  .back { fill: #f6f8fa; stroke: #d0d7de }
  .command { font-weight: bold }
  .good { fill: #116329 }
  .bad { fill: #b42318 }
  .hint { fill: #7d4e00 }
  .dim { fill: #57606a }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .back { fill: #0d1117; stroke: #30363d }
    .good { fill: #56d364 }
    .bad { fill: #ff8078 }
    .hint { fill: #e3b341 }
    .dim { fill: #8b949e }
  }
  @media (prefers-reduced-motion: no-preference) {
    text { animation: appear 200ms both; animation-delay: calc(var(--n) * 120ms) }
    @keyframes appear { from { opacity: 0 } }
  }
`

// kinds are the classes of lines, by how they begin.
var kinds = []struct{ prefix, class string }{
	{"$ ", "command"},
	{"status: SERVING", "good"},
	{"error: ", "bad"},
	{"hint: ", "hint"},
	{"exit ", "dim"},
	{"[builder]", ""},
	{" ", ""},
	{"", "dim"}, // what the demo says of itself
}

func class(line string) string {
	for _, kind := range kinds {
		if strings.HasPrefix(line, kind.prefix) {
			return kind.class
		}
	}
	return ""
}

func svg(lines []string) []byte {
	width, height := int(columns*charWidth)+2*margin, len(lines)*lineHeight+2*margin
	var out bytes.Buffer
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d"`, width,
		height, width, height)
	fmt.Fprintf(&out, ` role="img" aria-labelledby="title desc" xml:space="preserve">`+"\n")
	fmt.Fprintf(&out, "<!-- Made by scripts/picture.sh of what scripts/demo.sh prints. -->\n")
	fmt.Fprintf(&out, "<title id=\"title\">%s</title>\n<desc id=\"desc\">%s</desc>\n<style>%s</style>\n", title,
		description, style)
	fmt.Fprintf(&out, `<rect class="back" x="0.5" y="0.5" width="%d" height="%d" rx="8"/>`+"\n", width-1, height-1)
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		fmt.Fprintf(&out, `<text x="%d" y="%d" class="%s" style="--n:%d">%s</text>`+"\n",
			margin, margin+fontSize+i*lineHeight, class(line), i, escape(line))
	}
	out.WriteString("</svg>\n")
	return out.Bytes()
}

func escape(line string) string {
	var out bytes.Buffer
	_ = xml.EscapeText(&out, []byte(line)) // a buffer takes all
	return out.String()
}
