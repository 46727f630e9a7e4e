package documents_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/grpc-cnb/health-probe/integration/documents"
)

// workflow is what the checks read of a file in .github/workflows.
type workflow struct {
	On          yaml.Node         `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Concurrency yaml.Node         `yaml:"concurrency"`
	Jobs        map[string]job    `yaml:"jobs"`
}

type job struct {
	Permissions map[string]string `yaml:"permissions"`
	Timeout     int               `yaml:"timeout-minutes"`
	Uses        string            `yaml:"uses"`
	Steps       []step            `yaml:"steps"`
}

type step struct {
	Uses string            `yaml:"uses"`
	Run  string            `yaml:"run"`
	With map[string]string `yaml:"with"`
}

// writes are the rights to change something that a job may have, by the name of its workflow and its own. A job with a
// new one needs a new line here.
var writes = map[string][]string{
	"codeql.yml analyze":    {"security-events"},
	"release.yml publish":   {"packages"},
	"release.yml sign":      {"attestations", "id-token", "packages"},
	"release.yml release":   {"contents"},
	"vulncheck.yml release": {"contents", "issues"},
	"scorecard.yml analyze": {"id-token", "security-events"},
}

var (
	pinnedAction = regexp.MustCompile(`^([\w.-]+/[\w.-]+)(?:/[\w./-]+)?@([0-9a-f]{40})$`)
	usesLine     = regexp.MustCompile(`(?m)^[ -]*uses: *(\S+)(.*)$`)
	versionNote  = regexp.MustCompile(`^ # v\d+\.\d+\.\d+$`)
	oneScript    = regexp.MustCompile(`^(?:\.ci/run|scripts/[a-z-]+\.sh(?: [^;&|<>` + "`" + `]*)?)$`)
)

// TestWorkflows checks the workflows.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	texts := workflowTexts(t)
	if len(texts) < 4 {
		t.Fatalf("only %d workflows were found", len(texts))
	}
	pins := map[string]string{}
	for name, text := range texts {
		for _, problem := range workflowProblems(t, name, text) {
			t.Errorf(".github/workflows/%s: %s", name, problem)
		}
		for _, match := range usesLine.FindAllStringSubmatch(text, -1) {
			action := pinnedAction.FindStringSubmatch(match[1])
			if action == nil {
				continue
			}
			if other := pins[action[1]]; other != "" && other != action[2]+match[2] {
				t.Errorf("%s: %s is pinned to%s, and elsewhere to %s", name, action[1], match[2], other)
			}
			pins[action[1]] = action[2] + match[2]
		}
	}
}

// TestOnlySigningHasAnIdentity makes sure that what compiles a release cannot sign it: of its jobs, the one with the
// identity calls no other scripts than those that log in and sign.
func TestOnlySigningHasAnIdentity(t *testing.T) {
	t.Parallel()
	var w workflow
	if err := yaml.Unmarshal([]byte(workflowTexts(t)["release.yml"]), &w); err != nil {
		t.Fatal(err)
	}
	var signing []string
	for id, job := range w.Jobs {
		if job.Permissions["id-token"] == "" && job.Permissions["attestations"] == "" {
			continue
		}
		signing = append(signing, id)
		for _, step := range job.Steps {
			script, _, _ := strings.Cut(step.Run, " ")
			if !slices.Contains([]string{"", "scripts/login.sh", "scripts/sign.sh"}, script) {
				t.Errorf("job %s, which can sign, runs %s", id, script)
			}
		}
	}
	if !slices.Equal(signing, []string{"sign"}) {
		t.Errorf("the jobs %q can sign", signing)
	}
}

// workflowTexts returns the workflows by the names of their files.
func workflowTexts(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, path := range must(filepath.Glob(filepath.Join(repository, ".github/workflows/*")))(t) {
		texts[filepath.Base(path)] = string(must(os.ReadFile(path))(t))
	}
	return texts
}

// workflowProblems returns what is wrong with a workflow.
func workflowProblems(t *testing.T, name, text string) (problems []string) {
	t.Helper()
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	var w workflow
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		return []string{err.Error()}
	}
	if w.Permissions == nil || len(w.Permissions) > 0 {
		add("write permissions: {} at its head, so that a job has only the rights that it states")
	}
	if w.Concurrency.IsZero() {
		add("it states no concurrency")
	}
	if strings.Contains(text, "pull_request_target") {
		add("pull_request_target runs someone else's code with this repository's rights")
	}
	if strings.Contains(text, "\n  pull_request:") && strings.Contains(text, "secrets.") {
		add("a workflow for pull requests must not read secrets")
	}
	for _, match := range usesLine.FindAllStringSubmatch(text, -1) {
		if pinnedAction.MatchString(match[1]) && !versionNote.MatchString(match[2]) {
			add("%s has no comment with its version, # v1.2.3", match[1])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(w.Jobs)) {
		for _, problem := range jobProblems(t, name+" "+id, w.Jobs[id]) {
			add("job %s: %s", id, problem)
		}
	}
	return problems
}

// jobProblems returns what is wrong with a job, which writes knows by its name.
func jobProblems(t *testing.T, name string, j job) (problems []string) {
	t.Helper()
	add := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if j.Permissions == nil {
		add("it states no permissions")
	}
	var rights []string
	for right, value := range j.Permissions {
		if value != "read" && value != "none" {
			rights = append(rights, right)
		}
	}
	if slices.Sort(rights); !slices.Equal(rights, writes[name]) {
		add("it may write %q, and is to write %q", rights, writes[name])
	}
	if j.Uses != "" {
		if _, err := os.Stat(filepath.Join(repository, j.Uses)); err != nil || !strings.HasPrefix(j.Uses, "./") {
			add("%s is not a workflow of this repository", j.Uses)
		}
		return problems
	}
	if j.Timeout == 0 {
		add("it states no timeout-minutes")
	}
	for _, s := range j.Steps {
		if problem := s.problem(t); problem != "" {
			add("%s%s: %s", s.Uses, s.Run, problem)
		}
	}
	return problems
}

// problem is what is wrong with a step, or empty.
func (s step) problem(t *testing.T) string {
	t.Helper()
	if s.Run == "" {
		action := pinnedAction.FindStringSubmatch(s.Uses)
		switch {
		case action == nil:
			return "pin the action to a commit, 40 hexadecimal digits"
		case action[1] == "actions/checkout" && s.With["persist-credentials"] != "false":
			return "set persist-credentials: false, so that no later step has the token"
		}
		return ""
	}
	switch {
	case strings.Contains(s.Run, "${{"):
		return "an expression becomes part of the script: hand it over in env"
	case !oneScript.MatchString(s.Run):
		return "a step is one call of .ci/run or of a script in scripts, which runs elsewhere too"
	}
	script, _, _ := strings.Cut(s.Run, " ")
	info, err := os.Stat(filepath.Join(repository, script))
	switch {
	case err != nil:
		return err.Error()
	case info.Mode()&0o111 == 0:
		return "the script cannot be executed"
	case script == ".ci/run":
		return ""
	}
	// The script has to know the options.
	if err := (documents.Programs{Repository: repository}).Check(t.Context(), "./"+s.Run); err != nil {
		return err.Error()
	}
	return ""
}

// TestWorkflowProblems makes mistakes in the workflows, each of which has to be found.
func TestWorkflowProblems(t *testing.T) {
	t.Parallel()
	texts := workflowTexts(t)
	for _, mistake := range []struct{ name, workflow, old, replacement, want string }{
		{"action by tag", "part.yml", "@3d3c42e5aac5ba805825da76410c181273ba90b1", "@v7", "40 hexadecimal digits"},
		{"no version", "part.yml", " # v7.0.1", "", "no comment with its version"},
		{"credentials stay", "part.yml", "persist-credentials: false", "persist-credentials: true", "no later step"},
		{"all rights", "test.yml", "permissions: {}", "permissions: write-all", "cannot unmarshal"},
		{"default rights", "test.yml", "permissions: {}", "", "write permissions: {}"},
		{"default rights of a job", "test.yml", "    permissions:\n      contents: read\n", "", "no permissions"},
		{"one right more", "test.yml", "contents: read", "contents: write", `may write ["contents"]`},
		{"no timeout", "scorecard.yml", "timeout-minutes: 15", "", "no timeout-minutes"},
		{"no concurrency", "scorecard.yml", "concurrency:", "env:", "no concurrency"},
		{"script that is not there", "part.yml", "run: .ci/run", "run: scripts/gone.sh", "no such file"},
		{"logic", "part.yml", "run: .ci/run", "run: scripts/fuzz.sh && reboot", "one call"},
		{"several lines", "part.yml", "run: .ci/run", "run: |\n          .ci/run\n          .ci/run", "one call"},
		{"option that is not there", "part.yml", "run: .ci/run", "run: scripts/smoke.sh --gone", "no --gone"},
		{"script that is data", "part.yml", "run: .ci/run", "run: scripts/sbom", "one call"},
		{"untrusted text", "part.yml", "run: .ci/run", "run: scripts/demo.sh ${{ github.head_ref }}", "env"},
		{"secret", "test.yml", "tests: documents", "tests: ${{ secrets.CI }}", "must not read secrets"},
		{"rights for others' code", "test.yml", "pull_request:", "pull_request_target:", "someone else's code"},
		{"workflow of others", "release.yml", "./.github/workflows/test.yml", "a/b/c.yml@v1", "not a workflow"},
	} {
		t.Run(mistake.name, func(t *testing.T) {
			t.Parallel()
			text := texts[mistake.workflow]
			broken := strings.Replace(text, mistake.old, mistake.replacement, 1)
			if broken == text {
				t.Fatalf("%s has no %q", mistake.workflow, mistake.old)
			}
			problems := strings.Join(workflowProblems(t, mistake.workflow, broken), "\n")
			if !strings.Contains(problems, mistake.want) {
				t.Errorf("got %q, want %q", problems, mistake.want)
			}
		})
	}
}

// TestWorkflowsUseOneGo makes sure that tests and releases are made with the same Go: that of the file .go-version.
func TestWorkflowsUseOneGo(t *testing.T) {
	t.Parallel()
	var found int
	for name, text := range workflowTexts(t) {
		for _, match := range regexp.MustCompile(`go-version.*`).FindAllString(text, -1) {
			if found++; match != "go-version-file: .go-version" {
				t.Errorf(".github/workflows/%s: write go-version-file: .go-version for %q", name, match)
			}
		}
		if strings.Count(text, "actions/setup-go@") != strings.Count(text, "go-version-file: .go-version") {
			t.Errorf(".github/workflows/%s: each use of setup-go needs go-version-file: .go-version", name)
		}
	}
	if found == 0 {
		t.Error("no workflow has Go")
	}
}
