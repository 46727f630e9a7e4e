package documents_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/documents"
	"github.com/grpc-cnb/health-probe/probe/flags"
)

// The tests in this file go from the code to the documents: what the code has without a document describing it is an
// error, which names the file to fix.

// rows returns the rows of the tables in a document whose first column has that head.
func rows(t *testing.T, path, head string) []documents.Row {
	t.Helper()
	var found []documents.Row
	for _, row := range must(documents.Read(filepath.Join(repository, path)))(t).Rows {
		if row.Head == head {
			found = append(found, row)
		}
	}
	return found
}

// firstCells returns the code in the first cells of rows.
func firstCells(t *testing.T, path, head string) []string {
	t.Helper()
	return must(documents.Read(filepath.Join(repository, path)))(t).Quoted(head, 0)
}

// TestEachFlagHasARow wants a row of docs/probe.md for each flag, with its default: among the flags of
// grpc-health-probe, or among those that it does not have.
func TestEachFlagHasARow(t *testing.T) {
	t.Parallel()
	table := rows(t, "docs/probe.md", "flag")
	beyond := slices.IndexFunc(table, func(row documents.Row) bool { return strings.Contains(row.Cells[0], "`-all`") })
	for _, flag := range flags.All() {
		i := slices.IndexFunc(table, func(row documents.Row) bool {
			return strings.Contains(row.Cells[0], "`-"+flag.Name+"`")
		})
		if i < 0 {
			t.Errorf("docs/probe.md: add a row that begins with | `-%s` | to the tables of flags", flag.Name)
			continue
		}
		if flag.Upstream != (i < beyond) {
			t.Errorf("docs/probe.md: grpc-health-probe has the flag -%s: %t; move its row to the other table",
				flag.Name, flag.Upstream)
		}
		// The default of a boolean flag is off, and that of a duration of zero is said in words.
		value := table[i].Cells[len(table[i].Cells)-1]
		isStated := flag.Value != "" && flag.Default != "" && flag.Default != "0s"
		if isStated && !strings.Contains(value, "`"+flag.Default+"`") {
			t.Errorf("docs/probe.md: the default of -%s is `%s`, the table says %q", flag.Name, flag.Default, value)
		}
		if flag.Repeatable && !strings.Contains(table[i].Cells[1], "more than once") &&
			!strings.Contains(table[i].Cells[1], "each time") {
			t.Errorf("docs/probe.md: say that -%s may be given more than once", flag.Name)
		}
	}
}

// TestEachFlagHasItsVariable compares the names of the environment variables with the rule in docs/probe.md: a flag has
// the variable that the rule gives it, and only -version, which that page names, has none.
func TestEachFlagHasItsVariable(t *testing.T) {
	t.Parallel()
	all := flags.All()
	if len(all) < 20 {
		t.Fatalf("there are only %d flags", len(all))
	}
	for _, flag := range all {
		want := "GRPC_HEALTH_PROBE_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
		if flag.Name == "version" {
			want = ""
		}
		if flag.Variable != want {
			t.Errorf("docs/probe.md: the flag -%s is set by %q, and its rule says %q", flag.Name, flag.Variable, want)
		}
	}
}

// TestEachExitCodeIsDescribed wants each exit code in the table of docs/probe.md and a section of
// docs/troubleshooting.md for it.
func TestEachExitCodeIsDescribed(t *testing.T) {
	t.Parallel()
	codes := must(constants(filepath.Join(repository, "probe"), "ExitCode"))(t)
	if len(codes) < 5 {
		t.Fatalf("only the exit codes %q were found", codes)
	}
	table := rows(t, "docs/probe.md", "exit code")
	text := string(must(os.ReadFile(filepath.Join(repository, "docs/troubleshooting.md")))(t))
	for _, code := range codes {
		if !slices.ContainsFunc(table, func(row documents.Row) bool { return row.Cells[0] == code }) {
			t.Errorf("docs/probe.md: add a row for the exit code %s", code)
		}
		if code != "0" && !strings.Contains(text, "\n## Exit code "+code+":") {
			t.Errorf("docs/troubleshooting.md: add a section for the exit code %s", code)
		}
	}
}

var buildVariableName = regexp.MustCompile(`^BP_[A-Z0-9_]+$`)

// undocumentedVariables are the build variables that have no row in docs/build-variables.md, each with the reason.
var undocumentedVariables = map[string]string{
	"BP_GITHUB_ASSET_":       "what the name of an asset's variable begins with, which docs/sources.md describes",
	"BP_GRPC_HEALTH_PROBE_":  "what the names of all variables begin with",
	"BP_GITHUB_ASSET_SHA256": "a variable of examples/githubassets.toml, which docs/sources.md describes",
}

// TestEachBuildVariableHasARow wants a row of docs/build-variables.md for each name of a build variable in the code,
// and one in docs/detection.md for those of other buildpacks that detection reads.
func TestEachBuildVariableHasARow(t *testing.T) {
	t.Parallel()
	names := firstCells(t, "docs/build-variables.md", "variable")
	others := firstCells(t, "docs/detection.md", "variable")
	found := 0
	for _, part := range []string{"build", "cmd", "detect", "internal"} {
		for _, literal := range must(literals(filepath.Join(repository, part)))(t) {
			if !buildVariableName.MatchString(literal.Text) || undocumentedVariables[literal.Text] != "" {
				continue
			}
			found++
			document, rows := "docs/build-variables.md", names
			if strings.Contains(literal.Position.Filename, "detect/tree/target/") ||
				strings.HasSuffix(literal.Position.Filename, "/toolchain.go") {
				document, rows = "docs/detection.md", others
			}
			if !slices.Contains(rows, literal.Text) {
				t.Errorf("%s: add a row for the build variable %s, which is in %s", document, literal.Text,
					literal.Position)
			}
		}
	}
	if found < 8 {
		t.Errorf("only %d build variables were found in the code", found)
	}
}

// TestEachKeyIsDescribed wants a row of docs/probe.md for each key of the JSON that the probe prints, and no other.
func TestEachKeyIsDescribed(t *testing.T) {
	t.Parallel()
	printed := must(writtenKeys(filepath.Join(repository, "probe"), "object"))(t)
	if len(printed) < 5 {
		t.Errorf("only the keys %q were found", printed)
	}
	described := firstCells(t, "docs/probe.md", "key of `-o json`")
	for _, key := range printed {
		if !slices.Contains(described, key) {
			t.Errorf("docs/probe.md: add a row for the key %q of -o json", key)
		}
	}
	for _, key := range described {
		if !slices.Contains(printed, key) {
			t.Errorf("docs/probe.md describes the key %q of -o json, which the code does not write", key)
		}
	}
}
