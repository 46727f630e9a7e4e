package detect

import (
	"debug/elf"
	"fmt"
	"io"
)

// The symbols that decide, as the C++ ABI mangles them: grpc::ServerBuilder::BuildAndStart(), in grpc_impl from 1.24 to
// 1.31. A program linked with libgrpc++.so names it among the symbols it needs; one linked with libgrpc++.a among its own,
// until it is stripped. A client does neither: from an archive a linker takes only what is called.
const (
	cppServerSymbol    = "_ZN4grpc13ServerBuilder13BuildAndStartEv"
	cppOldServerSymbol = "_ZN9grpc_impl13ServerBuilder13BuildAndStartEv"
	cppHealthSymbol    = "_ZN4grpc31EnableDefaultHealthCheckServiceEb"
)

// cppArchived is a program linked with libgrpc++.a. The health symbol is always in it, because the server's code, from the
// same archive, needs the object that it is in: whether the app calls it is not known.
type cppArchived struct{}

// readCppProgram reads a program in ELF.
func readCppProgram(r io.ReaderAt) (*sheet, error) {
	program, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("leaving out a damaged program: %w", err)
	}
	if program.Type != elf.ET_EXEC && program.Type != elf.ET_DYN || program.Section(".gopclntab") != nil {
		return nil, nil
	}
	for _, table := range []string{".dynstr", ".strtab"} {
		found, err := cppNames(r, program.Section(table))
		if err != nil {
			return nil, err
		}
		if !found[0] && !found[1] {
			continue
		}
		said := &sheet{built: true}
		said.signs = []sign{{kind: constructs, what: "grpc::ServerBuilder::BuildAndStart", framework: cppGRPC}}
		switch {
		case table == ".strtab":
			said.own = cppArchived{}
		case found[2]:
			said.signs = append(said.signs, sign{kind: health, what: "grpc::EnableDefaultHealthCheckService"})
		}
		return said, nil
	}
	return nil, nil
}

// cppNames reports which of the symbols that decide are in a table of names.
func cppNames(r io.ReaderAt, table *elf.Section) ([]bool, error) {
	names := []string{cppServerSymbol, cppOldServerSymbol, cppHealthSymbol}
	if table == nil || table.Type != elf.SHT_STRTAB {
		return make([]bool, len(names)), nil
	}
	found, err := findNames(io.NewSectionReader(r, int64(table.Offset), int64(table.FileSize)), names...)
	if err != nil {
		return nil, fmt.Errorf("reading a program's symbols: %w", err)
	}
	return found, nil
}
