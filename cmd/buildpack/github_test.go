package main

import (
	"archive/zip"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/grpc-cnb/health-probe/build/github/githubtest"
)

// token is the one that the small GitHub accepts.
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
	env.Setenv("ETAG_TOO_LONG", `"`+strings.Repeat("0", 300)+`"`)
	env.Setenv("TMPDIR", env.WorkDir)
	return nil
}

var usual = githubtest.Behaviour{Token: token, Reset: time.Date(2040, 1, 2, 3, 4, 5, 0, time.UTC)}

// behave is the command "github [FIELD=VALUE...]": it sets fields of the Behaviour, and all others to what is usual.
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

// received is the command "received FILE": it writes the requests since the last one, with marks where the token, a
// password or an ETag came with them. The token on a host that is no API, a password on one that is no mirror, and an ETag
// of another address, fail the script.
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
		if request.IfNoneMatch != "" {
			mark += " if changed"
		}
		if request.Foreign {
			ts.Fatalf("%s%s got the ETag %s, which it never gave", request.Host, request.Path, request.IfNoneMatch)
		}
		lines = fmt.Appendf(lines, "%s %s%s%s\n", request.Method, request.Host, assetID.ReplaceAllString(request.Path, "assets/ID"), mark)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), lines, 0o644))
}

// makeProgram is the command "program ARCH FILE...": each is the smallest ELF program for it.
func makeProgram(ts *testscript.TestScript, neg bool, args []string) {
	header := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT), Ehsize: 64}
	if args[0] == "arm64" {
		header.Machine = uint16(elf.EM_AARCH64)
	}
	copy(header.Ident[:], elf.ELFMAG+string([]byte{byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)}))
	var program bytes.Buffer
	ts.Check(binary.Write(&program, binary.LittleEndian, header))
	for _, name := range args[1:] {
		ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(name)), 0o755))
		ts.Check(os.WriteFile(ts.MkAbs(name), program.Bytes(), 0o755))
	}
}

// makeZip is the command "zip DIR FILE".
func makeZip(ts *testscript.TestScript, neg bool, args []string) {
	file, err := os.Create(ts.MkAbs(args[1]))
	ts.Check(err)
	writer := zip.NewWriter(file)
	ts.Check(errors.Join(writer.AddFS(os.DirFS(ts.MkAbs(args[0]))), writer.Close(), file.Close()))
}

// await is the command "await FILE": it waits until there is the file, so that what a program does then can be disturbed.
func await(ts *testscript.TestScript, neg bool, args []string) {
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Microsecond) {
		if _, err := os.Lstat(ts.MkAbs(args[0])); err == nil {
			return
		}
	}
	ts.Fatalf("%s did not appear", args[0])
}

// handOver is the command "handover": of the alternatives in plan.toml that detect wrote, it takes the first of which all
// that is provided is required, as the lifecycle does for a buildpack that is alone, and puts what build is given in its
// place.
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
		required := map[string]bool{}
		for _, entry := range one.Requires {
			required[entry.Name] = true
		}
		if !slices.ContainsFunc(one.Provides, func(entry struct{ Name string }) bool { return !required[entry.Name] }) {
			text, err := toml.Marshal(map[string]any{"entries": one.Requires})
			ts.Check(err)
			ts.Check(os.WriteFile(file, text, 0o644))
			return
		}
	}
	ts.Fatalf("no alternative of the plan has all that it provides required")
}
