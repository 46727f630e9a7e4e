package integration

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/build/assets"
	"github.com/grpc-cnb/health-probe/integration/documents"
	"github.com/grpc-cnb/health-probe/integration/harness"
)

const repository = ".."

// allDocuments are the README, its siblings and what is in docs.
func allDocuments(t *testing.T) []*documents.Document {
	t.Helper()
	all := must(documents.All(repository))(t)
	if len(all) < 5 {
		t.Fatalf("only %d documents were found", len(all))
	}
	return all
}

// TestDocumentBlocks checks each code block by what stands behind its opening fence:
//
//   - a language and the path of a file: the block is lines of that file, but for their indentation
//   - sh: command lines, one a line, each of which its program would take
func TestDocumentBlocks(t *testing.T) {
	t.Parallel()
	programs := documents.Programs{Repository: repository, Pack: must(kit.Tool(t.Context(), "pack"))(t)}
	for _, d := range allDocuments(t) {
		for _, b := range d.Blocks {
			language, path, named := strings.Cut(b.Info, " ")
			switch {
			case named:
				file := must(os.ReadFile(filepath.Join(repository, path)))(t)
				if !b.IsPartOf(strings.Split(string(file), "\n")) {
					t.Errorf("%s:%d: the block is no part of %s:\n%s", d.Path, b.Line, path, strings.Join(b.Lines, "\n"))
				}
			case language == "sh":
				for _, command := range b.Commands() {
					if err := programs.Check(t.Context(), command); err != nil {
						t.Errorf("%s:%d: %s: %v", d.Path, b.Line, command, err)
					}
				}
			default:
				t.Errorf("%s:%d: nothing checks a block of %q: name the file that it is a part of, or call it sh", d.Path, b.Line, b.Info)
			}
		}
	}
}

// TestDocumentsShowExamples makes sure that each example is named in a document, or the folder of several.
func TestDocumentsShowExamples(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, d := range allDocuments(t) {
		text.Write(d.Text)
	}
	walkExamples(t, func(name string) {
		folder := filepath.Dir(name)
		if !strings.Contains(text.String(), name) && (folder == "examples" || !strings.Contains(text.String(), folder)) {
			t.Errorf("no document names %s", name)
		}
	})
}

// walkExamples calls a function with the name of each file in examples, seen from the repository.
func walkExamples(t *testing.T, each func(name string)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(repository), "examples", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			each(name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// allTexts are the documents and the examples, by their paths.
func allTexts(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, d := range allDocuments(t) {
		texts[d.Path] = string(d.Text)
	}
	walkExamples(t, func(name string) {
		texts[name] = string(must(os.ReadFile(filepath.Join(repository, name)))(t))
	})
	return texts
}

// ownVersion is how the examples name a version of the product: as an image's tag and in the order of a buildpack.
var ownVersion = regexp.MustCompile(`(?:/health-probe:|"` + buildpackID + `"\s+version = ")([0-9][^\s"]*)`)

// TestDocumentsNameTheVersion makes sure that examples and documents name the version of the buildpack that they are of.
func TestDocumentsNameTheVersion(t *testing.T) {
	t.Parallel()
	want := productVersion(t)
	var found int
	for name, text := range allTexts(t) {
		for _, match := range ownVersion.FindAllStringSubmatch(text, -1) {
			found++
			if match[1] != want {
				t.Errorf("%s names version %s of the buildpack, which is %s", name, match[1], want)
			}
		}
	}
	if found == 0 {
		t.Error("no version is named")
	}
}

// TestDocumentLinks follows the links within the repository, to their headings.
func TestDocumentLinks(t *testing.T) {
	t.Parallel()
	anchors := map[string][]string{}
	for _, d := range allDocuments(t) {
		anchors[filepath.Clean(d.Path)] = d.Anchors
	}
	for _, d := range allDocuments(t) {
		for _, link := range d.Links {
			if strings.Contains(link, "://") {
				continue
			}
			name, anchor, _ := strings.Cut(link, "#")
			path := filepath.Join(filepath.Dir(d.Path), name)
			if name == "" {
				path = filepath.Clean(d.Path)
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s: the link %q leads nowhere: %v", d.Path, link, err)
			}
			if anchor != "" && !slices.Contains(anchors[path], anchor) {
				t.Errorf("%s: the link %q leads to no heading; there are %q", d.Path, link, anchors[path])
			}
		}
	}
}

var (
	probeVariable = regexp.MustCompile(`\bGRPC_HEALTH_PROBE_[A-Z0-9_]*[A-Z0-9]`)
	buildVariable = regexp.MustCompile(`\bBP_GRPC_HEALTH_PROBE_[A-Z0-9_]*[A-Z0-9]`)
	layerPath     = regexp.MustCompile("/layers/grpc-cnb_health-probe/[^]\\s\"`,:)]*")
	flagInProse   = regexp.MustCompile("`-([a-z][a-z-]*)(?:=[^`]*)?`")
	// probeCommand is a command as YAML and JSON have it in one line.
	probeCommand = regexp.MustCompile(`\["(?:CMD", ")?` + harness.ProbePath + `"[^]]*\]`)
)

// otherFlags are those of pack and of the go command that the documents name.
var otherFlags = []string{"b", "buildmode", "buildvcs", "ldflags", "mod", "trimpath"}

// TestDocumentNames makes sure that settings have the names that they have in the code, and the probe its path and flags, in
// documents and examples.
func TestDocumentNames(t *testing.T) {
	t.Parallel()
	descriptor := string(must(os.ReadFile(filepath.Join(repository, "buildpack.toml")))(t))
	second := filepath.Join(filepath.Dir(harness.ProbePath), "grpc-health-probe")
	for path, text := range allTexts(t) {
		for _, name := range buildVariable.FindAllString(text, -1) {
			if !strings.Contains(descriptor, `"`+name+`"`) {
				t.Errorf("%s: there is no build variable %s", path, name)
			}
		}
		for _, name := range probeVariable.FindAllString(text, -1) {
			// The version is one that Dockerfiles set, and that the probe does not read.
			if name != "GRPC_HEALTH_PROBE_VERSION" && !documents.IsVariable(name) {
				t.Errorf("%s: no flag of the probe has the variable %s", path, name)
			}
		}
		for _, match := range flagInProse.FindAllStringSubmatch(text, -1) {
			if !documents.IsFlag(match[1]) && !slices.Contains(otherFlags, match[1]) {
				t.Errorf("%s: the probe has no flag -%s", path, match[1])
			}
		}
		for _, file := range layerPath.FindAllString(text, -1) {
			for _, program := range []string{harness.ProbePath, second} {
				if filepath.Base(file) == filepath.Base(program) && file != program {
					t.Errorf("%s: the probe is not at %s", path, file)
				}
			}
		}
		for _, command := range probeCommand.FindAllString(text, -1) {
			var words []string
			err := json.Unmarshal([]byte(command), &words)
			if err == nil {
				_, err = documents.CheckProbe(words)
			}
			if err != nil {
				t.Errorf("%s: %s: %v", path, command, err)
			}
		}
	}
}

var ratio = regexp.MustCompile(`\b0\.\d\d\b`)

// TestReadmeFigures makes sure that the ratios in the README are measured ones, of the lean probe.
func TestReadmeFigures(t *testing.T) {
	t.Parallel()
	var measured strings.Builder
	for _, row := range must(documents.Read(filepath.Join(repository, "docs/benchmarks.md")))(t).Rows {
		if row.Cells[0] == "lean" {
			measured.WriteString(strings.Join(row.Cells, " ") + "\n")
		}
	}
	figures := ratio.FindAllString(string(must(os.ReadFile(filepath.Join(repository, "README.md")))(t)), -1)
	for _, figure := range figures {
		if !strings.Contains(measured.String(), figure) {
			t.Errorf("the README has the ratio %s, which is not in docs/benchmarks.md:\n%s", figure, measured.String())
		}
	}
	if len(figures) == 0 {
		t.Error("the README has no ratio")
	}
}

// TestTroubleshootingHasEachMessage compares docs/troubleshooting.md with the messages that other tests expect of the
// programs: each row quotes one of them, and each error and hint of the probe is in a row. An ellipsis stands for what
// differs.
func TestTroubleshootingHasEachMessage(t *testing.T) {
	t.Parallel()
	d := must(documents.Read(filepath.Join(repository, "docs/troubleshooting.md")))(t)
	probe := must(documents.Messages(filepath.Join(repository, "probe/testdata")))(t)
	wantQuotes(t, "error", append(d.Quoted("error", 0), "and … more"), probe["error: "])
	wantQuotes(t, "hint", d.Quoted("error", 1), probe["hint: "])

	build := must(documents.Messages(filepath.Join(repository, "cmd/buildpack/testdata")))(t)
	phase := must(documents.Messages(filepath.Join(repository, "detect/testdata/phase")))(t)
	for _, quote := range d.Quoted("the build says", 0) {
		if !slices.ContainsFunc(append(build[""], phase[""]...), quoted(quote).MatchString) {
			t.Errorf("no test expects a build to say %q", quote)
		}
	}
}

// wantQuotes wants each quote to be a message, and each message to be quoted.
func wantQuotes(t *testing.T, what string, quotes, messages []string) {
	t.Helper()
	for _, quote := range quotes {
		if !slices.ContainsFunc(messages, quoted(quote).MatchString) {
			t.Errorf("no test expects the %s %q", what, quote)
		}
	}
	for _, message := range messages {
		if !slices.ContainsFunc(quotes, func(quote string) bool { return quoted(quote).MatchString(message) }) {
			t.Errorf("docs/troubleshooting.md has no row for the %s %q", what, message)
		}
	}
}

// quoted is what a quote stands for.
func quoted(quote string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(quote), "…", ".*") + "$")
}

// TestAssetsExample reads the example as the buildpack reads a project.toml.
func TestAssetsExample(t *testing.T) {
	t.Parallel()
	example := must(os.ReadFile(filepath.Join(repository, "examples/githubassets.toml")))(t)
	app := must(kit.Stage(map[string]string{"project.toml": string(example)}))(t)
	wanted := must(assets.Read(app))(t)
	if len(wanted) != 1 || wanted[0].Destination != "bin/jq" || len(wanted[0].SHA256) != 64 {
		t.Errorf("the buildpack reads %+v", wanted)
	}
}
