package documents_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// form is an issue form, as GitHub reads it (GitHub's documentation, Syntax for issue forms). GitHub hides a form with
// anything else in it.
type form struct {
	Name        string   `yaml:"name"`
	Description string   `yaml:"description"`
	Title       string   `yaml:"title"`
	Labels      []string `yaml:"labels"`
	Body        []field  `yaml:"body"`
}

// field is an element of a form (GitHub's documentation, Syntax for GitHub's form schema).
type field struct {
	Type       string `yaml:"type"`
	ID         string `yaml:"id"`
	Attributes struct {
		Label       string   `yaml:"label"`
		Description string   `yaml:"description"`
		Placeholder string   `yaml:"placeholder"`
		Value       string   `yaml:"value"`
		Render      string   `yaml:"render"`
		Options     []string `yaml:"options"`
	} `yaml:"attributes"`
	Validations struct {
		Required bool `yaml:"required"`
	} `yaml:"validations"`
}

// problem is what GitHub refuses in a field, or empty.
func (f field) problem() string {
	attributes := f.Attributes
	switch {
	case !slices.Contains([]string{"markdown", "input", "textarea", "dropdown"}, f.Type):
		return "type is not markdown, input, textarea or dropdown"
	case f.Type == "markdown" && (attributes.Value == "" || attributes.Label != "" || f.ID != ""):
		return "markdown has a value, no label and no id"
	case f.Type != "markdown" && (attributes.Label == "" || f.ID == ""):
		return "it has no label or no id"
	case (f.Type == "dropdown") != (len(attributes.Options) > 0):
		return "a dropdown has options, and nothing else has"
	case attributes.Render != "" && f.Type != "textarea":
		return "only a textarea has render"
	}
	return ""
}

const formFolder = ".github/ISSUE_TEMPLATE"

// TestIssueForms decodes the issue forms strictly and checks what GitHub demands of them.
func TestIssueForms(t *testing.T) {
	t.Parallel()
	paths := must(filepath.Glob(filepath.Join(repository, formFolder, "*.yml")))(t)
	names := map[string]bool{}
	for _, path := range paths {
		if filepath.Base(path) == "config.yml" {
			continue
		}
		var f form
		decodeStrictly(t, path, &f)
		if f.Name == "" || f.Description == "" || names[f.Name] {
			t.Errorf("%s: it needs a name of its own and a description", path)
		}
		names[f.Name] = true
		ids, asked := map[string]bool{}, false
		for _, field := range f.Body {
			if problem := field.problem(); problem != "" {
				t.Errorf("%s: %s %q: %s", path, field.Type, field.ID, problem)
			}
			if field.ID != "" && ids[field.ID] {
				t.Errorf("%s: two fields have the id %s", path, field.ID)
			}
			ids[field.ID] = true
			asked = asked || field.Validations.Required
		}
		if !asked {
			t.Errorf("%s: no field is required", path)
		}
	}
	if len(names) < 2 {
		t.Errorf("there are the forms %v", names)
	}
	var config struct {
		BlankIssues  bool `yaml:"blank_issues_enabled"`
		ContactLinks []struct {
			Name  string `yaml:"name"`
			URL   string `yaml:"url"`
			About string `yaml:"about"`
		} `yaml:"contact_links"`
	}
	decodeStrictly(t, filepath.Join(repository, formFolder, "config.yml"), &config)
	for _, link := range config.ContactLinks {
		if link.Name == "" || link.About == "" || !strings.HasPrefix(link.URL, "https://") {
			t.Errorf("config.yml: a link needs a name, an address and what it is about: %+v", link)
		}
	}
}

// decodeStrictly reads a YAML file without keys that the value does not have.
func decodeStrictly(t *testing.T, path string, value any) {
	t.Helper()
	file := must(os.Open(path))(t)
	defer file.Close()
	decoder := yaml.NewDecoder(file)
	decoder.KnownFields(true)
	if err := decoder.Decode(value); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

var ownLink = regexp.MustCompile(`github\.com/grpc-cnb/health-probe/blob/main/([\w./-]+)`)

// TestFormLinks follows the links of the forms into this repository.
func TestFormLinks(t *testing.T) {
	t.Parallel()
	var found int
	for _, path := range must(filepath.Glob(filepath.Join(repository, ".github", "*", "*.yml")))(t) {
		for _, match := range ownLink.FindAllStringSubmatch(string(must(os.ReadFile(path))(t)), -1) {
			found++
			if _, err := os.Stat(filepath.Join(repository, strings.TrimSuffix(match[1], "."))); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	if found == 0 {
		t.Error("no form has a link into this repository")
	}
}
