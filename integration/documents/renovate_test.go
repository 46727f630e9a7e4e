package documents_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/grpc-cnb/health-probe/integration/documents"
)

// customManager is how renovate.json says where versions stand that Renovate does not find by itself.
type customManager struct {
	CustomType             string   `json:"customType"`
	Description            string   `json:"description"`
	ManagerFilePatterns    []string `json:"managerFilePatterns"`
	MatchStrings           []string `json:"matchStrings"`
	DepNameTemplate        string   `json:"depNameTemplate"`
	PackageNameTemplate    string   `json:"packageNameTemplate"`
	DatasourceTemplate     string   `json:"datasourceTemplate"`
	ExtractVersionTemplate string   `json:"extractVersionTemplate"`
}

// renovateManagers reads the custom managers. A key that Renovate does not have would make it stop.
func renovateManagers(t *testing.T) []customManager {
	t.Helper()
	var config struct {
		IgnorePaths    []string          `json:"ignorePaths"`
		CustomManagers []json.RawMessage `json:"customManagers"`
	}
	if err := json.Unmarshal(must(os.ReadFile(filepath.Join(repository, "renovate.json")))(t), &config); err != nil {
		t.Fatal(err)
	}
	if strings.Join(config.IgnorePaths, " ") != "**/testdata/**" {
		t.Errorf("renovate.json ignores %q; without ignorePaths it would ignore the examples", config.IgnorePaths)
	}
	var managers []customManager
	for _, raw := range config.CustomManagers {
		var m customManager
		decoder := json.NewDecoder(strings.NewReader(string(raw)))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&m); err != nil {
			t.Fatalf("renovate.json: %v in\n%s", err, raw)
		}
		managers = append(managers, m)
	}
	return managers
}

// span is where a manager found a version, with all that stands around it.
type span struct{ from, to int }

// managed returns where managers find versions, by file. Each pattern has to find something.
func managed(t *testing.T) map[string][]span {
	t.Helper()
	found := map[string][]span{}
	for _, m := range renovateManagers(t) {
		if m.CustomType != "regex" || m.DatasourceTemplate == "" {
			t.Errorf("renovate.json: %q is not a regex with a datasource", m.Description)
		}
		var paths []string
		for _, pattern := range m.ManagerFilePatterns {
			matched := must(filepath.Glob(filepath.Join(repository, pattern)))(t)
			if len(matched) == 0 {
				t.Errorf("renovate.json: %q: no file is called %s", m.Description, pattern)
			}
			paths = append(paths, matched...)
		}
		for _, expression := range m.MatchStrings {
			// Renovate's engine is RE2, as Go's is.
			pattern := must(regexp.Compile(expression))(t)
			named := m.DepNameTemplate != "" || pattern.SubexpIndex("depName") >= 0
			if !named || pattern.SubexpIndex("currentValue") < 0 {
				t.Errorf("renovate.json: %q: it captures no name or no version: %s", m.Description, expression)
			}
			var matches int
			for _, path := range paths {
				text := string(must(os.ReadFile(path))(t))
				for _, at := range pattern.FindAllStringIndex(text, -1) {
					matches++
					name := strings.TrimPrefix(path, repository+"/")
					found[name] = append(found[name], span{at[0], at[1]})
				}
			}
			if matches == 0 {
				t.Errorf("renovate.json: %q: nothing matches %s", m.Description, expression)
			}
		}
	}
	return found
}

// notPinned are versions in examples that nobody has to raise.
var notPinned = []*regexp.Regexp{
	// the user's own images, buildpack and Maven project
	regexp.MustCompile(`registry\.example\.com/[a-z-]+:1\.0\.0`),
	regexp.MustCompile(`id = "my/go-grpc"\nversion = "1\.0\.0"`),
	regexp.MustCompile(`<artifactId>[a-z-]+</artifactId>\s*<version>1\.0\.0</version>`),
	// Maven's format
	regexp.MustCompile(`(?:POM/|maven-|<modelVersion>)4\.0\.0`),
	// Spring Boot, which Renovate finds by itself in files of Gradle and Maven
	regexp.MustCompile(`org\.springframework\.boot' version '[0-9.]+'`),
	regexp.MustCompile(`spring-boot-starter-parent</artifactId>\s*<version>[0-9.]+</version>`),
}

var (
	fullVersion  = regexp.MustCompile(`\bv?[0-9]+\.[0-9]+\.[0-9]+\b(?:\.[0-9]+)*|sha256:[0-9a-f]{64}`)
	installed    = regexp.MustCompile(`@v[0-9]+\.[0-9]+\.[0-9]+\b`)
	taggedInDocs = regexp.MustCompile(`\bv[0-9]+\.[0-9]+\.[0-9]+\b`)
)

// TestRenovateFindsEachVersion makes sure that a manager of renovate.json keeps up to date each version in an example,
// in a script, and in a table of what the tests use.
func TestRenovateFindsEachVersion(t *testing.T) {
	t.Parallel()
	found := managed(t)
	texts := map[string]string{}
	walkExamples(t, func(name string) { texts[name] = "" })
	for _, pattern := range []string{"scripts/*.sh", ".ci/run", "docs/platforms.md", "docs/health-checks.md"} {
		for _, path := range must(filepath.Glob(filepath.Join(repository, pattern)))(t) {
			texts[strings.TrimPrefix(path, repository+"/")] = ""
		}
	}
	own := must(documents.Version(repository))(t)
	oldest := required(t, "integration/tools/oldest", "github.com/buildpacks/lifecycle")
	for name := range texts {
		text := string(must(os.ReadFile(filepath.Join(repository, name)))(t))
		version, covered := fullVersion, found[name]
		switch filepath.Dir(name) {
		case "docs":
			version = taggedInDocs // others are facts
		case "scripts", ".ci":
			version = installed // others are what a script prints or takes
		}
		for _, pattern := range notPinned {
			for _, at := range pattern.FindAllStringIndex(text, -1) {
				covered = append(covered, span{at[0], at[1]})
			}
		}
		for _, at := range version.FindAllStringIndex(text, -1) {
			pin := text[at[0]:at[1]]
			known := strings.TrimPrefix(pin, "v") == own || pin == oldest || strings.HasPrefix(pin, "127.")
			if !known && !contains(covered, at[0], at[1]) {
				t.Errorf("%s: no manager in renovate.json raises %s", name, pin)
			}
		}
	}
}

func contains(spans []span, from, to int) bool {
	for _, s := range spans {
		if s.from <= from && to <= s.to {
			return true
		}
	}
	return false
}

// TestRenovateKnowsTheModules makes sure that what a document calls by a name is a module that is required here.
func TestRenovateKnowsTheModules(t *testing.T) {
	t.Parallel()
	required := map[string]bool{}
	for _, pattern := range []string{
		"go.mod", "integration/go.mod", "integration/*/go.mod", "integration/*/*/go.mod", "integration/*/*/*/go.mod",
	} {
		for _, path := range must(filepath.Glob(filepath.Join(repository, pattern)))(t) {
			for _, require := range must(modfile.Parse(path, must(os.ReadFile(path))(t), nil))(t).Require {
				required[require.Mod.Path] = true
			}
		}
	}
	for _, m := range renovateManagers(t) {
		if m.DatasourceTemplate == "go" && m.DepNameTemplate != "" && !required[m.DepNameTemplate] {
			t.Errorf("renovate.json: no go.mod requires %s", m.DepNameTemplate)
		}
	}
}
