package schemas

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/cmd"
	kindcmd "sigs.k8s.io/kind/pkg/cmd"
	"sigs.k8s.io/kind/pkg/cmd/kind"
)

// TestDocumentCommands has kubectl and kind parse the command lines in the documents that start them.
func TestDocumentCommands(t *testing.T) {
	t.Parallel()
	programs := map[string]func() *cobra.Command{
		"kubectl": cmd.NewDefaultKubectlCommand,
		"kind": func() *cobra.Command {
			streams := kindcmd.IOStreams{In: os.Stdin, Out: io.Discard, ErrOut: io.Discard}
			return kind.NewCommand(kindcmd.NewLogger(), streams)
		},
	}
	found := 0
	for _, line := range commandLines(t) {
		words := strings.Fields(line)
		program, ok := programs[words[0]]
		if !ok || words[1] == "grpc-probes" { // the tests of that plugin parse them
			continue
		}
		found++
		if err := parse(program(), words[1:]); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if found < 5 {
		t.Errorf("only %d command lines were found", found)
	}
	for _, wrong := range []string{"get pods --lable=app", "debugg pod/a", "apply -f nothing.yaml"} {
		if parse(cmd.NewDefaultKubectlCommand(), strings.Fields(wrong)) == nil {
			t.Errorf("kubectl %s passes", wrong)
		}
	}
}

// commandLines returns the lines of the blocks of the documents that are called sh.
func commandLines(t *testing.T) []string {
	t.Helper()
	paths, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		isCommand := false
		for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "```") {
				isCommand = line == "```sh"
			} else if isCommand && line != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// parse looks for the command, has it parse its flags and count its arguments, and looks for the files that it names.
func parse(root *cobra.Command, words []string) error {
	command, args, err := root.Find(words)
	if err != nil {
		return err
	}
	if command == root || !command.Runnable() {
		return fmt.Errorf("%s has no command %q", command.Name(), args)
	}
	if err := command.ParseFlags(args); err != nil {
		return err
	}
	if err := command.ValidateArgs(command.Flags().Args()); err != nil {
		return err
	}
	files := command.Flags().Lookup("filename")
	if files == nil || !files.Changed {
		return nil
	}
	_, err = os.Stat(filepath.Join("../..", strings.Trim(files.Value.String(), "[]")))
	return err
}
