package detect

import (
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
)

// goBinary is what a built Go program says.
type goBinary struct {
	main string // import path of its main package
}

// The functions whose names decide. The linker drops what nothing calls, so a client, which has the same modules, has
// none of them; the table of function names stays in stripped programs, because panics and stack traces need it. It has
// inlined functions too.
const (
	goServerFunc  = "google.golang.org/grpc.NewServer"
	goHealthFunc  = "google.golang.org/grpc/health/grpc_health_v1.RegisterHealthServer"
	goPluginFunc  = "github.com/hashicorp/go-plugin.Serve" // its server is for the parent process alone
	goHandlerFunc = "connectrpc.com/connect.(*Handler).ServeHTTP"
	goCheckFunc   = "connectrpc.com/grpchealth.NewHandler"
)

// goHTTP2Funcs are what serves HTTP/2 to a connect handler.
var goHTTP2Funcs = []string{"golang.org/x/net/http2/h2c.NewHandler", "net/http.(*Server).ServeTLS",
	"net/http.(*Protocols).SetUnencryptedHTTP2"}

// goModules are the modules that hold them: a program without any cannot serve.
var goModules = []string{"google.golang.org/grpc", "connectrpc.com/connect"}

// readGoProgram reads a program in ELF.
func readGoProgram(r io.ReaderAt) (*sheet, error) {
	info, err := buildinfo.Read(r)
	if err != nil || !slices.ContainsFunc(info.Deps, func(m *debug.Module) bool { return slices.Contains(goModules, m.Path) }) {
		return nil, nil // a program of another language, or one that cannot serve
	}
	table, err := goFunctionTable(r)
	if err != nil {
		return nil, err
	}
	names := append([]string{goServerFunc, goHealthFunc, goPluginFunc, goHandlerFunc, goCheckFunc}, goHTTP2Funcs...)
	found, err := findNames(table, names...)
	if err != nil {
		return nil, fmt.Errorf("reading a program's function names: %w", err)
	}
	signs := goProgramSigns(func(name string) bool { return found[slices.Index(names, name)] })
	if signs == nil {
		return nil, nil
	}
	return &sheet{built: true, own: goBinary{main: info.Path}, signs: signs}, nil
}

// goProgramSigns returns what the functions of a program say, nil where it serves no gRPC.
func goProgramSigns(has func(name string) bool) []sign {
	var signs []sign
	if has(goServerFunc) && !has(goPluginFunc) {
		signs = append(signs, sign{kind: constructs, what: goServerFunc, framework: "grpc-go"})
	} else if has(goHandlerFunc) && slices.ContainsFunc(goHTTP2Funcs, has) {
		signs = append(signs, sign{kind: constructs, what: goHandlerFunc, framework: "connect-go"})
	}
	for _, name := range []string{goHealthFunc, goCheckFunc} {
		if signs != nil && has(name) {
			signs = append(signs, sign{kind: health, what: name})
		}
	}
	return signs
}

// goFunctionTable returns the section that holds the names of all functions: .gopclntab, with a prefix in some position
// independent programs.
func goFunctionTable(r io.ReaderAt) (io.Reader, error) {
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
