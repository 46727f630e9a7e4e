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
	"github.com/grpc-cnb/health-probe/probe/bridge/bridgeflags"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

// Programs are the programs that the command lines in the documents start.
type Programs struct {
	Repository string // the folder in which the command lines are meant to be run
	Pack       string // path of the program pack; if it is empty, its command lines are not checked
	Docker     bool   // whether the docker program, if it is installed, checks its own command lines
}

var remark = regexp.MustCompile(`(^|\s)#\s.*$`)

// Commands are the command lines in a block: those that end in \ put together, and all without remarks.
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

// Check returns the reason why a program would refuse a command line. Wherever possible the program itself says it.
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
	// The test TestProbeOfAnImage of package integration runs what is piped to jq.
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
		return nil // integration/schemas, or the plugin's own test, has them parse their command lines
	case before[0] == "crane":
		return nil // the test TestProbeOfAnImage of package integration runs it
	case before[0] == "go":
		return p.checkGo(ctx, words[1:])
	case strings.HasPrefix(before[0], "./scripts/"):
		return p.checkScript(ctx, words[0], words[1:])
	}
	return fmt.Errorf("nothing checks the program %q", words[0])
}

// CheckProbe has the probe read the flags after its path, if the words have it, and returns the words before.
// With --entrypoint the name of an image or a service stands between.
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

// checkPack lets pack parse its own flags, which it does before it prints its help.
func (p Programs) checkPack(ctx context.Context, words []string) error {
	if p.Pack == "" {
		return nil
	}
	return refused(exec.CommandContext(ctx, p.Pack, append(slices.Clone(words), "--help")...))
}

// checkCompose takes what integration/compose_test.go does.
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

// checkDocker lets docker parse its own flags. With CI=true it has to be installed.
func (p Programs) checkDocker(ctx context.Context, words []string) error {
	if !p.Docker {
		return nil
	}
	if _, err := exec.LookPath("docker"); err != nil && os.Getenv("CI") != "true" {
		return nil
	}
	return refused(exec.CommandContext(ctx, "docker", slices.Insert(slices.Clone(words), 1, "--help")...))
}

// checkPodman lets podman parse its own flags, where docker does. With CI=true it has to be installed.
func (p Programs) checkPodman(ctx context.Context, words []string) error {
	if !p.Docker {
		return nil
	}
	if _, err := exec.LookPath("podman"); err != nil && os.Getenv("CI") != "true" {
		return nil
	}
	return refused(exec.CommandContext(ctx, "podman", slices.Insert(slices.Clone(words), 1, "--help")...))
}

// checkGo loads the packages and parses the flags, without running anything, and looks for the tests.
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

// checkTest looks for a test in the package that a command line names; NONE is none.
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

// checkScript has the script print its options, and looks for those that are used.
func (p Programs) checkScript(ctx context.Context, script string, words []string) error {
	path := filepath.Join(p.Repository, script)
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if !strings.Contains(string(content), "--help") { // it would do its work instead
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

// refused is the error of a command with what it printed.
func refused(command *exec.Cmd) error {
	out, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("running %q: %w\n%s", strings.Join(command.Args, " "), err, out)
	}
	return nil
}

// IsVariable reports whether an environment variable sets a flag of the probe or of the bridge.
func IsVariable(name string) bool {
	own := []string{bridgeflags.ListenEnv, bridgeflags.AllowEnv, bridgeflags.NameEnv, bridgeflags.BackgroundEnv}
	return slices.Contains(own, name) ||
		slices.ContainsFunc(flags.All(), func(f flags.Flag) bool { return f.Variable == name })
}

// IsFlag reports whether the probe or the bridge has a flag of that name, or helps by it.
func IsFlag(name string) bool {
	own := []string{"h", "help", bridgeflags.Listen, bridgeflags.Allow, bridgeflags.Name, bridgeflags.Background}
	return slices.Contains(own, name) ||
		slices.ContainsFunc(flags.All(), func(f flags.Flag) bool { return f.Name == name })
}
