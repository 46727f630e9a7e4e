package cpp

import (
	"debug/elf"
	"fmt"
	"io"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// Symbols of functions, mangled by the Itanium C++ ABI. From grpc 1.24 to 1.31 the class was in namespace grpc_impl. A
// program linked with libgrpc++.so has the function among the needed symbols, a program linked with libgrpc++.a among
// the program's own symbols until stripped. A client has neither, because a linker takes only called functions from an
// archive.
const (
	buildAndStart     = "_ZN4grpc13ServerBuilder13BuildAndStartEv"
	buildAndStartImpl = "_ZN9grpc_impl13ServerBuilder13BuildAndStartEv"
	enableHealth      = "_ZN4grpc31EnableDefaultHealthCheckServiceEb"
)

// readProgram reads a program in ELF. The result is nil for programs without a gRPC server, and for Go programs.
func readProgram(r io.ReaderAt) (*analyzer.Result[extra], error) {
	program, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("leaving out a damaged program: %w", err)
	}
	if program.Type != elf.ET_EXEC && program.Type != elf.ET_DYN || program.Section(".gopclntab") != nil {
		return nil, nil
	}
	needed, err := readSymbols(r, program.Section(".dynstr"))
	if err != nil {
		return nil, err
	}
	if needed.server {
		return programResult(needed.health, extra{}), nil
	}
	own, err := readSymbols(r, program.Section(".strtab"))
	if err != nil || !own.server {
		return nil, err
	}
	return programResult(false, extra{linksArchive: true}), nil
}

func programResult(health bool, e extra) *analyzer.Result[extra] {
	found := []finding.Finding{
		finding.Server{Site: finding.AtLine(0, "grpc::ServerBuilder::BuildAndStart"), Framework: grpcPlusPlus},
	}
	if health {
		found = append(found, finding.Health{Site: finding.AtLine(0, "grpc::EnableDefaultHealthCheckService")})
	}
	return &analyzer.Result[extra]{Findings: found, Built: true, Extra: e}
}

// symbols tells whether a table of symbol names has BuildAndStart and EnableDefaultHealthCheckService.
type symbols struct{ server, health bool }

func readSymbols(r io.ReaderAt, table *elf.Section) (symbols, error) {
	if table == nil || table.Type != elf.SHT_STRTAB {
		return symbols{}, nil
	}
	names := io.NewSectionReader(r, int64(table.Offset), int64(table.FileSize))
	found, err := tree.FindNames(names, buildAndStart, buildAndStartImpl, enableHealth)
	if err != nil {
		return symbols{}, fmt.Errorf("reading a program's symbols: %w", err)
	}
	return symbols{server: found[0] || found[1], health: found[2]}, nil
}
