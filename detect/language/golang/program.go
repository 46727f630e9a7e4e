package golang

import (
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// The functions whose names prove a finding. The linker drops functions without a call, so a client with the same
// modules lacks the functions. The table of function names stays in stripped programs, because panics and stack traces
// need the table, and includes inlined functions.
const (
	newServerFunc      = "google.golang.org/grpc.NewServer"
	registerHealthFunc = "google.golang.org/grpc/health/grpc_health_v1.RegisterHealthServer"
	servePluginFunc    = "github.com/hashicorp/go-plugin.Serve" // the plugin's server is for the parent process alone
	connectHandlerFunc = "connectrpc.com/connect.(*Handler).ServeHTTP"
	connectHealthFunc  = "connectrpc.com/grpchealth.NewHandler"
)

var (
	// http2Funcs serve HTTP/2 to a connect handler.
	http2Funcs = []string{
		"golang.org/x/net/http2/h2c.NewHandler", "net/http.(*Server).ServeTLS",
		"net/http.(*Protocols).SetUnencryptedHTTP2",
	}
	// serverModules hold the functions that serve gRPC: a program without either module cannot serve gRPC.
	serverModules = []string{"google.golang.org/grpc", "connectrpc.com/connect"}
)

// analyzeProgram returns the findings of a program in ELF, or nil for a program without gRPC.
func analyzeProgram(r io.ReaderAt) (*analyzer.Result[Extra], error) {
	info, err := buildinfo.Read(r)
	serves := func(m *debug.Module) bool { return slices.Contains(serverModules, m.Path) }
	isGo := err == nil // another error than that of a program of another language is not told apart
	if !isGo || !slices.ContainsFunc(info.Deps, serves) {
		return nil, nil
	}
	table, err := functionTable(r)
	if err != nil {
		return nil, err
	}
	names := append([]string{newServerFunc, registerHealthFunc, servePluginFunc, connectHandlerFunc, connectHealthFunc},
		http2Funcs...)
	found, err := tree.FindNames(table, names...)
	if err != nil {
		return nil, fmt.Errorf("reading a program's function names: %w", err)
	}
	findings := matchFunctions(func(name string) bool { return found[slices.Index(names, name)] })
	if findings == nil {
		return nil, nil
	}
	return &analyzer.Result[Extra]{Built: true, Extra: Extra{MainPackage: info.Path}, Findings: findings}, nil
}

// matchFunctions returns the findings of a program's functions, or nil for a program without gRPC.
func matchFunctions(has func(name string) bool) []finding.Finding {
	var findings []finding.Finding
	if has(newServerFunc) && !has(servePluginFunc) {
		findings = append(findings, finding.Server{Site: finding.AtLine(0, newServerFunc), Framework: grpcGo})
	} else if has(connectHandlerFunc) && slices.ContainsFunc(http2Funcs, has) {
		findings = append(findings, finding.Server{Site: finding.AtLine(0, connectHandlerFunc), Framework: connectGo})
	}
	for _, name := range []string{registerHealthFunc, connectHealthFunc} {
		if findings != nil && has(name) {
			findings = append(findings, finding.Health{Site: finding.AtLine(0, name)})
		}
	}
	return findings
}

// functionTable returns the section with the names of all functions: .gopclntab, with a prefix in some
// position-independent programs.
func functionTable(r io.ReaderAt) (io.Reader, error) {
	program, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("leaving out a damaged program: %w", err)
	}
	for _, section := range program.Sections {
		if strings.HasSuffix(section.Name, ".gopclntab") && section.Type == elf.SHT_PROGBITS {
			return io.NewSectionReader(r, int64(section.Offset), int64(section.FileSize)), nil
		}
	}
	return nil, errors.New("leaving out a Go program without its table of functions")
}
