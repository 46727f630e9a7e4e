package main

import (
	"archive/zip"
	"debug/elf"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/grpc-cnb/health-probe/build/executable/executabletest"
	"github.com/grpc-cnb/health-probe/build/github/githubtest"
)

// token is the only token that the small GitHub accepts.
const token = "ghp_s3cretOfTheTests"

// startGitHub starts the script's GitHub, whose releases are github/OWNER/NAME/TAG/ASSET.
func startGitHub(env *testscript.Env) error {
	server, err := githubtest.New(filepath.Join(env.WorkDir, "github"), filepath.Join(env.WorkDir, "ca.pem"))
	if err != nil {
		return err
	}
	env.Defer(server.Close)
	env.Values["github"] = server
	server.Behave(func(b *githubtest.Behaviour) { *b = usual })
	env.Vars = append(env.Vars, server.Env()...)
	env.Setenv("GITHUB_TOKEN_OF_THE_TESTS", token)
	env.Setenv("TMPDIR", env.WorkDir)
	return nil
}

var usual = githubtest.Behaviour{Token: token, Reset: time.Date(2040, 1, 2, 3, 4, 5, 0, time.UTC)}

// behave is the command "github [FIELD=VALUE...]": it sets fields of the server's Behaviour, and resets all others.
func behave(ts *testscript.TestScript, neg bool, args []string) {
	ts.Value("github").(*githubtest.Server).Behave(func(b *githubtest.Behaviour) {
		*b = usual
		for _, arg := range args {
			name, value, _ := strings.Cut(arg, "=")
			switch field := reflect.ValueOf(b).Elem().FieldByName(name); field.Interface().(type) {
			case bool:
				field.SetBool(true)
			case int:
				n, err := strconv.ParseInt(value, 10, 64)
				ts.Check(err)
				field.SetInt(n)
			case time.Duration:
				d, err := time.ParseDuration(value)
				ts.Check(err)
				field.SetInt(int64(d))
			case string:
				field.SetString(value)
			case []string:
				field.Set(reflect.ValueOf(strings.Split(value, ",")))
			default:
				ts.Fatalf("cannot set %q", name)
			}
		}
	})
}

var assetID = regexp.MustCompile(`assets/[0-9]+`)

// received is the command "received FILE": it writes the requests since the last "received" to FILE, and says of each
// whether a token or a password came with it. A token on a host that has no API, and a password on a host that is no
// mirror, fail the script.
func received(ts *testscript.TestScript, neg bool, args []string) {
	var lines []byte
	for _, request := range ts.Value("github").(*githubtest.Server).Take() {
		mark := ""
		switch kind, _, _ := strings.Cut(request.Authorization, " "); {
		case kind == "Bearer" && (request.Host == githubtest.APIHost || request.Host == githubtest.EnterpriseHost):
			mark = " with token"
		case kind == "Basic" && request.Host == githubtest.MirrorHost:
			mark = " with password"
		case kind != "":
			ts.Fatalf("%s got %q", request.Host, request.Authorization)
		}
		lines = fmt.Appendf(lines, "%s %s%s%s\n", request.Method, request.Host,
			assetID.ReplaceAllString(request.Path, "assets/ID"), mark)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), lines, 0o644))
}

// elfKinds are what the command program can make.
var elfKinds = map[string]executabletest.File{
	"amd64":   {Machine: elf.EM_X86_64},
	"arm64":   {Machine: elf.EM_AARCH64},
	"dynamic": {Machine: elf.EM_X86_64, Interpreter: "/lib64/ld-linux-x86-64.so.2"},
	"library": {Machine: elf.EM_X86_64, Type: elf.ET_DYN, Dynamic: []uint64{uint64(elf.DT_SONAME), 1}},
	"object":  {Machine: elf.EM_X86_64, Type: elf.ET_REL},
	"freebsd": {Machine: elf.EM_X86_64, OSABI: elf.ELFOSABI_FREEBSD},
}

// makeProgram is the command "program KIND FILE...": it makes each file a small ELF file, for amd64 or arm64 a program.
func makeProgram(ts *testscript.TestScript, neg bool, args []string) {
	kind, ok := elfKinds[args[0]]
	if !ok {
		ts.Fatalf("cannot make %q", args[0])
	}
	for _, name := range args[1:] {
		ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(name)), 0o755))
		ts.Check(os.WriteFile(ts.MkAbs(name), kind.Bytes(), 0o755))
	}
}

// makeZip is the command "zip DIR FILE": it writes the files below DIR to the zip FILE.
func makeZip(ts *testscript.TestScript, neg bool, args []string) {
	file, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	writer := zip.NewWriter(file)
	ts.Check(errors.Join(writer.AddFS(os.DirFS(ts.MkAbs(args[0]))), writer.Close(), file.Close()))
}

// await is the command "await FILE": it waits until a program that runs in the background has made the file, so that
// the script can kill the program at that moment.
func await(ts *testscript.TestScript, neg bool, args []string) {
	for end := time.Now().Add(5 * time.Minute); time.Now().Before(end); time.Sleep(100 * time.Microsecond) {
		if _, err := os.Lstat(ts.MkAbs(args[0])); err == nil {
			return
		}
	}
	ts.Fatalf("%s did not appear", args[0])
}

// handOver is the command "handover". Like the lifecycle for a single buildpack, it takes the first alternative in the
// plan.toml of detect that requires what it provides and nothing else, and replaces the file by the plan that build
// gets.
func handOver(ts *testscript.TestScript, neg bool, args []string) {
	type alternative struct {
		Provides []struct{ Name string }
		Requires []struct {
			Name     string         `toml:"name"`
			Metadata map[string]any `toml:"metadata"`
		}
	}
	var plan struct {
		alternative
		Or []alternative
	}
	file := ts.Getenv("CNB_BUILD_PLAN_PATH")
	_, err := toml.DecodeFile(file, &plan)
	ts.Check(err)
	for _, one := range append([]alternative{plan.alternative}, plan.Or...) {
		provided, required := map[string]bool{}, map[string]bool{}
		for _, entry := range one.Provides {
			provided[entry.Name] = true
		}
		for _, entry := range one.Requires {
			required[entry.Name] = true
		}
		if maps.Equal(provided, required) {
			text, err := toml.Marshal(map[string]any{"entries": one.Requires})
			ts.Check(err)
			ts.Check(os.WriteFile(file, text, 0o644))
			return
		}
	}
	ts.Fatalf("no alternative of the plan has all that it provides required")
}
