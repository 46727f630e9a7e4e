package documents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/grpc-cnb/health-probe/integration/harness"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

// Programs are the programs of the documents' command lines.
type Programs struct {
	Repository string // the folder for the command lines
	Pack       string // path of the program pack; if empty, the command lines of pack are not checked
	Docker     bool   // whether the docker and podman programs, if installed, check their command lines
}

var remark = regexp.MustCompile(`(^|\s)#\s.*$`)

// Commands returns the command lines of a block: continued lines, ending in \, are joined, and remarks removed.
func (b Block) Commands() []string {
	text := strings.ReplaceAll(strings.Join(b.Lines, "\n"), "\\\n", " ")
	var commands []string
	for line := range strings.SplitSeq(text, "\n") {
		if line = strings.TrimSpace(remark.ReplaceAllString(line, "")); line != "" {
			commands = append(commands, line)
		}
	}
	return commands
}

var assignment = regexp.MustCompile(`^[A-Z0-9_]+=`)

// Check returns why a program would refuse a command line, wherever possible in the words of the program.
func (p Programs) Check(ctx context.Context, line string) error {
	words, err := shellquote.Split(line)
	if err != nil {
		return err
	}
	for len(words) > 0 && assignment.MatchString(words[0]) {
		words = words[1:]
	}
	if len(words) == 0 {
		return errors.New("there is no command in it")
	}
	// The test TestProbeOfAnImage of package integration runs the pipes to jq.
	if pipe := slices.Index(words, "|"); pipe >= 0 && slices.Index(words, "jq") == pipe+1 {
		words = words[:pipe]
	}
	before, err := CheckProbe(words)
	if err != nil {
		return err
	}
	switch {
	case len(before) == 0:
		return nil
	case before[0] == "pack":
		return p.checkPack(ctx, words[1:])
	case before[0] == "docker" && len(before) > 1 && before[1] == "compose":
		return p.checkCompose(before[2:])
	case before[0] == "docker" && len(before) > 1:
		return p.checkDocker(ctx, words[1:])
	case before[0] == "podman" && len(before) > 1:
		return p.checkPodman(ctx, words[1:])
	case before[0] == "kubectl" || before[0] == "kind":
		return nil // integration/schemas, or the plugin's own test, parses their command lines
	case before[0] == "crane":
		return nil // the test TestProbeOfAnImage of package integration runs crane
	case before[0] == "go":
		return p.checkGo(ctx, words[1:])
	case strings.HasPrefix(before[0], "./scripts/"):
		return p.checkScript(ctx, words[0], words[1:])
	}
	return fmt.Errorf("nothing checks the program %q", words[0])
}

// CheckProbe checks the flags after the probe's path, if the words have the path, and returns the words before the
// path. With --entrypoint, the name of an image or a service comes before the flags.
func CheckProbe(words []string) (before []string, err error) {
	at := slices.Index(words, harness.ProbePath)
	if at < 0 {
		return words, nil
	}
	given := words[at+1:]
	if at > 0 && words[at-1] == "--entrypoint" && len(given) > 0 {
		given = given[1:]
	}
	_, err = flags.ReadDefaults(given)
	return words[:at], err
}

// checkPack lets pack parse the flags, before pack prints the help.
func (p Programs) checkPack(ctx context.Context, words []string) error {
	if p.Pack == "" {
		return nil
	}
	return refused(exec.CommandContext(ctx, p.Pack, append(slices.Clone(words), "--help")...))
}

// checkCompose accepts the commands of integration/compose_test.go.
func (p Programs) checkCompose(words []string) error {
	if len(words) > 1 && words[0] == "-f" {
		if _, err := os.Stat(filepath.Join(p.Repository, words[1])); err != nil {
			return err
		}
		words = words[2:]
	}
	line := strings.Join(words, " ")
	if !slices.Contains([]string{"up --detach", "ps", "down", "run --rm --no-deps --entrypoint"}, line) {
		return fmt.Errorf("no test runs %q", line)
	}
	return nil
}

// checkDocker lets docker parse the flags. With CI=true docker must be installed.
func (p Programs) checkDocker(ctx context.Context, words []string) error {
	if !p.Docker {
		return nil
	}
	if _, err := exec.LookPath("docker"); err != nil && os.Getenv("CI") != "true" {
		return nil
	}
	return refused(exec.CommandContext(ctx, "docker", slices.Insert(slices.Clone(words), 1, "--help")...))
}

// checkPodman lets podman parse the flags, if docker is checked too. With CI=true podman must be installed.
func (p Programs) checkPodman(ctx context.Context, words []string) error {
	if !p.Docker {
		return nil
	}
	if _, err := exec.LookPath("podman"); err != nil && os.Getenv("CI") != "true" {
		return nil
	}
	return refused(exec.CommandContext(ctx, "podman", slices.Insert(slices.Clone(words), 1, "--help")...))
}

// checkGo loads the packages and parses the flags, without a run, and looks for the tests.
func (p Programs) checkGo(ctx context.Context, words []string) error {
	folder := p.Repository
	if len(words) > 1 && words[0] == "-C" {
		folder, words = filepath.Join(p.Repository, words[1]), words[2:]
	}
	if len(words) == 0 || words[0] != "test" {
		return errors.New("of the go command only go test is checked")
	}
	command := exec.CommandContext(ctx, "go", slices.Insert(slices.Clone(words), 1, "-n")...)
	command.Dir = folder
	if err := refused(command); err != nil {
		return err
	}
	for i, word := range words[1:] {
		if flag := words[i]; flag == "-run" || flag == "-fuzz" {
			name, _, _ := strings.Cut(word, "/")
			if err := checkTest(folder, words, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkTest looks for a test in a command line's package; the name NONE stands for no test.
func checkTest(folder string, words []string, name string) error {
	at := slices.IndexFunc(words, func(word string) bool { return strings.HasPrefix(word, ".") })
	if at < 0 || name == "NONE" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(folder, words[at], "*_test.go"))
	if err != nil {
		return err
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if strings.Contains(string(content), "\nfunc "+name) {
			return nil
		}
	}
	return fmt.Errorf("%s has no test %s", words[at], name)
}

// checkScript has the script print the options, and looks for the options of the command line.
func (p Programs) checkScript(ctx context.Context, script string, words []string) error {
	path := filepath.Join(p.Repository, script)
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !strings.Contains(string(content), `/lib.sh"`) { // without lib.sh, -h would run the script
		return errors.New("it does not answer -h")
	}
	help, err := exec.CommandContext(ctx, path, "-h").CombinedOutput()
	if err != nil {
		return fmt.Errorf("running it with -h: %w\n%s", err, help)
	}
	for _, word := range words {
		option, _, _ := strings.Cut(word, "=")
		if strings.HasPrefix(word, "-") && !strings.Contains(string(help), option) {
			return fmt.Errorf("its help has no %s:\n%s", option, help)
		}
	}
	return nil
}

// refused runs a command; an error contains the output.
func refused(command *exec.Cmd) error {
	out, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("running %q: %w\n%s", strings.Join(command.Args, " "), err, out)
	}
	return nil
}
