package githubassets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	entry  = "[[metadata.githubassets]]\nrepo = 'a/b'\nasset = 'c'\n"
	keys   = "repo, asset, tag, sha256, token_env, destination, strip_components)"
	inFile = "reading the GitHub assets in project.toml: "
)

// mistakes are texts of a project.toml, each with the mistake in it.
var mistakes = map[string]struct{ text, want string }{
	"none":         {"[project]\nid = 'x'\n", ""},
	"right":        {entry, ""},
	"others' keys": {entry + "[metadata.x]\nsha265 = 1\n[io.buildpacks]\ny = 2\n", ""},
	"not ours":     {"[project\n", ""},
	"text for a number": {
		entry + "strip_components = '1'\n",
		inFile + `toml: line 4 (last key "metadata.githubassets.strip_components"): incompatible types: TOML ` +
			`value has type string; destination has type integer`,
	},
	"less than nothing": {
		entry + "strip_components = -1\n",
		`reading the GitHub asset "c" of a/b: strip_components is -1: it must be 0 or more`,
	},
	"more than a number": {
		entry + "strip_components = 9223372036854775808\n",
		inFile + "toml: line 4 (last key \"metadata.githubassets.strip_components\"): 9223372036854775808 is out of " +
			"range for int64",
	},
	"no TOML": {
		entry + "tag = v1\n",
		inFile + `toml: line 4 (last key "metadata.githubassets.tag"): expected value but found "v" instead`,
	},
	"a table": {
		"[metadata.githubassets]\nrepo = 'a/b'\nasset = 'c'\n",
		inFile + "metadata.githubassets is not an array of tables (write [[metadata.githubassets]], with two " +
			"brackets, before each asset)",
	},
	"a table, 0.2": {
		"[_.metadata.githubassets]\nrepo = 'a/b'\n",
		inFile + "_.metadata.githubassets is not an array of tables (write [[_.metadata.githubassets]], with two " +
			"brackets, before each asset)",
	},
	"unknown key": {
		entry + "sha265 = 'x'\n",
		inFile + `the key "sha265" is not known (the nearest is "sha256"; there are ` + keys,
	},
	"unknown key, 0.2": {
		"[[_.metadata.githubassets]]\nrepo = 'a/b'\nasset = 'c'\ntoken-env = 'x'\n",
		inFile + `the key "token-env" is not known (the nearest is "token_env"; there are ` + keys,
	},
	"the plan's key": {
		entry + "layer = '../x'\n",
		inFile + `the key "layer" is not known (the nearest is "asset"; there are ` + keys,
	},
	"unknown table": {
		"[[metadata.github-assets]]\nrepo = 'a/b'\n",
		inFile + `the table "metadata.github-assets" is not known (the nearest is [[metadata.githubassets]])`,
	},
	"misspelt table": {
		"[[metadata.gihubasset]]\nrepo = 'a/b'\n",
		inFile + `the table "metadata.gihubasset" is not known (the nearest is [[metadata.githubassets]])`,
	},
	"table elsewhere": {
		"[[githubassets]]\nrepo = 'a/b'\n",
		inFile + `the table "githubassets" is not known (the nearest is [[metadata.githubassets]])`,
	},
	"UTF-16": {
		"\xff\xfe[\x00p\x00]\x00",
		inFile + "it is not UTF-8, as TOML must be (save it as UTF-8)",
	},
	"too long": {
		strings.Repeat("#", 256<<10+1),
		`reading project.toml: "project.toml" is longer than 256 KiB`,
	},
	"no asset": {
		"[[metadata.githubassets]]\nrepo = 'a/b'\n",
		`reading the GitHub assets: one has repo "a/b" and asset "": it needs both`,
	},
	"a token's value": {
		entry + "token_env = 'my token'\n",
		`reading the GitHub asset "c" of a/b: token_env holds something other than the name of an environment ` +
			`variable`,
	},
	"a token": {
		entry + "token_env = 'ghp_s3cretOfTheTests'\n",
		`reading the GitHub asset "c" of a/b: token_env holds a token: it must be the name of an environment ` +
			`variable that does`,
	},
	"a token's name": {entry + "token_env = '_MY_TOKEN2'\n", ""},
	"token in repo": {
		"[[metadata.githubassets]]\nrepo = 'https://s3cret@github.com/a/b'\nasset = 'c'\n",
		"reading a repository: it seems to hold a token or a password: it must be owner/name",
	},
	"token as owner": {
		"[[metadata.githubassets]]\nrepo = 'ghp_s3cretOfTheTests/b'\nasset = 'c'\n",
		"reading a repository: it seems to hold a token or a password: it must be owner/name",
	},
	"line break": {
		"[[metadata.githubassets]]\nrepo = 'a/b'\nasset = \"c\\nd\"\n",
		`reading the asset "c\nd" of a/b: it must be the name of a file`,
	},
	"C1 escape": {
		"[[metadata.githubassets]]\nrepo = 'a/b'\nasset = \"c\\u009b2J\"\n",
		`reading the asset "c\u009b2J" of a/b: it must be the name of a file`,
	},
	"escape in a tag": {
		entry + "tag = \"v\\u202e1\"\n",
		`reading the tag "v\u202e1" of a/b: it must be the tag of a release, or latest`,
	},
	"escape in a place": {
		entry + "destination = \"x\\u001b\"\n",
		`reading the GitHub asset "c" of a/b: the destination "x\x1b" has a character that cannot be printed`,
	},
	"leads out": {
		entry + "destination = '../x'\n",
		`reading the GitHub asset "c" of a/b: the destination "../x" leads out of its layer: it must be a path ` +
			"below that",
	},
	"digest": {entry + "sha256 = 'abc'\n", `reading sha256: "abc" is not a SHA-256 in hex`},
}

func TestMistakesInProjectFiles(t *testing.T) {
	for name, c := range mistakes {
		t.Run(name, func(t *testing.T) {
			app := t.TempDir()
			if err := os.WriteFile(filepath.Join(app, projectFile), []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			checkMistake(t, app, c.want)
		})
	}
}

func checkMistake(t *testing.T, app, want string) {
	t.Helper()
	message := ""
	if _, err := readRequests(app); err != nil {
		message = err.Error()
	}
	if message != want {
		t.Errorf("the mistake is %s\nwant %s", message, want)
	}
}

// A project.toml that is a link must lead to a file of the app.
func TestLinkedProjectFiles(t *testing.T) {
	for to, want := range map[string]string{
		"real.toml":   "",
		"none.toml":   `reading project.toml: following "project.toml": statat project.toml: no such file or directory`,
		"/etc/passwd": `reading project.toml: following "project.toml": statat project.toml: path escapes from parent`,
	} {
		app := t.TempDir()
		if err := os.WriteFile(filepath.Join(app, "real.toml"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, filepath.Join(app, projectFile)); err != nil {
			t.Fatal(err)
		}
		checkMistake(t, app, want)
	}
	app := t.TempDir()
	if err := os.Mkdir(filepath.Join(app, projectFile), 0o755); err != nil {
		t.Fatal(err)
	}
	checkMistake(t, app, "")
}

// Each case sets variables for an app without a file.
func TestMistakesInVariables(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{
			"GITHUB_ASSETS_PATH",
			"none.toml",
			`reading $GITHUB_ASSETS_PATH: finding "none.toml" in the app: there is no such file`,
		},
		{
			"GITHUB_ASSETS_PATH",
			"../x.toml",
			`reading $GITHUB_ASSETS_PATH: following "../x.toml": statat ../x.toml: path escapes from parent`,
		},
		{
			"GITHUB_ASSETS_PATH",
			"dir",
			`reading $GITHUB_ASSETS_PATH: reading the directory "dir": there is no such file`,
		},
		{
			"GITHUB_ASSETS_PATH",
			"empty.toml",
			`reading $GITHUB_ASSETS_PATH: "empty.toml" has no [[metadata.githubassets]]`,
		},
		{"GITHUB_ASSETS_PATH", "", ""},
		{"REPO", "a/b", ""},
		{"BP_GITHUB_ASSET_TOKEN", "x", ""},
		{
			"BP_GITHUB_ASSET_REPO",
			"a/b",
			"reading $BP_GITHUB_ASSET_REPO: it asks for a GitHub asset, which needs both $BP_GITHUB_ASSET_REPO and " +
				"$BP_GITHUB_ASSET_FILE",
		},
		{
			"BP_GITHUB_ASSET_SHA265",
			"x",
			"reading $BP_GITHUB_ASSET_SHA265: it is not known (did you mean $BP_GITHUB_ASSET_SHA256?)",
		},
	} {
		t.Run(c.name+"="+c.value, func(t *testing.T) {
			t.Setenv(c.name, c.value)
			app := t.TempDir()
			if err := os.WriteFile(filepath.Join(app, "empty.toml"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(app, "dir"), 0o755); err != nil {
				t.Fatal(err)
			}
			checkMistake(t, app, c.want)
		})
	}
}
