package golang

import (
	"go/build/constraint"
	"go/parser"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/language/golang/syntax"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// otherPlatform are the names of files for another system or processor than linux/amd64: a_windows.go,
// a_linux_arm64.go. The words come from package go/build (internal/syslist).
var otherPlatform = lazyregexp.New(`^[^.]*_(` +
	`(aix|android|darwin|dragonfly|freebsd|hurd|illumos|ios|js|nacl|netbsd|openbsd|plan9|solaris|wasip1|windows|zos)` +
	`(_amd64)?|` +
	`386|amd64p32|arm|armbe|arm64|arm64be|loong64|mips|mipsle|mips64|mips64le|mips64p32|mips64p32le|` +
	`ppc|ppc64|ppc64le|` +
	`riscv|riscv64|s390|s390x|sparc|sparc64|wasm` +
	`)(_test)?(\.|$)`)

// isBuilt reports whether `go build` for linux/amd64 takes a file, by the name and the build constraint. Package
// go/build gives the same answer, but takes a second to compile with all imports.
func isBuilt(name string, text []byte) bool {
	return !strings.HasPrefix(name, "_") && !otherPlatform.MatchString(name) && meetsConstraint(text)
}

// mayConstrain are in each file with a build constraint, of Go 1.17 or before.
var mayConstrain = source.NewKeywords("//go:build", "+build")

// meetsConstraint reports whether a build for linux/amd64 meets the constraint above the package clause of a file. A
// file that is not Go meets any constraint: the parser of the rest reports the error.
func meetsConstraint(text []byte) bool {
	if !mayConstrain.In(text) {
		return true
	}
	file, err := syntax.Parse(text, parser.PackageClauseOnly|parser.ParseComments)
	if err != nil {
		return true
	}
	var lines, olderLines []string
	for _, group := range file.Comments {
		for _, comment := range group.List {
			switch line := comment.Text; {
			case comment.Pos() > file.Package:
			case constraint.IsGoBuild(line):
				lines = append(lines, line)
			case constraint.IsPlusBuild(line) && group != file.Doc:
				olderLines = append(olderLines, line)
			}
		}
	}
	if len(lines) == 0 {
		return !slices.ContainsFunc(olderLines, func(line string) bool {
			expr, err := constraint.Parse(line)
			return err == nil && !expr.Eval(isBuildTag)
		})
	}
	expr, err := constraint.Parse(lines[0])
	return len(lines) == 1 && err == nil && expr.Eval(isBuildTag)
}

// goRelease is the tag of a release of Go.
var goRelease = source.Exactly(`go1\.[1-9][0-9]*`)

// isBuildTag reports whether a build for linux/amd64 has a tag. The Go of the build is taken to be new enough for the
// app.
func isBuildTag(tag string) bool {
	switch tag {
	case "linux", "unix", "amd64", "cgo", "gc":
		return true
	default:
		return goRelease.MatchString(tag)
	}
}
