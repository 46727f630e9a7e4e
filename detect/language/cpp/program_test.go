package cpp

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
)

const (
	serverSymbol    = "_ZN4grpc13ServerBuilder13BuildAndStartEv"
	oldServerSymbol = "_ZN9grpc_impl13ServerBuilder13BuildAndStartEv"
	healthSymbol    = "_ZN4grpc31EnableDefaultHealthCheckServiceEb"
	channelSymbol   = "_ZN4grpc13CreateChannelERKNSt7__cxx1112basic_stringIcEE" +
		"RKSt10shared_ptrINS_18ChannelCredentialsEE"
)

// The programs are linked in each way, stripped (without .strtab) or not.
func TestBuiltProgramsGiveTheirServices(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		file            string
		dynamic, static []string
		want            string
	}{
		"shared": {
			"app",
			[]string{serverSymbol, healthSymbol},
			nil,
			"C++, grpc++ (app); health service registered (app); port not known; TLS or plaintext not known\n",
		},
		"1.30": {
			"app",
			[]string{oldServerSymbol},
			[]string{"main"},
			"C++, grpc++ (app); health service not registered; port not known; TLS or plaintext not known\n",
		},
		"archive": {
			"app",
			[]string{"malloc"},
			[]string{serverSymbol, healthSymbol},
			"C++, grpc++ (app); health service not known; port not known; TLS or plaintext not known\n",
		},
		"client":   {"app", []string{channelSymbol}, []string{"main"}, ""},
		"library":  {"libgrpc++.so.1.51", []string{serverSymbol}, nil, ""},
		"its test": {"server_test", []string{serverSymbol}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, c.file), elfWith(c.dynamic, c.static))
			if got := analyzertest.Describe(analyzertest.Scan(t, Analyzer, dir)); got != c.want {
				t.Errorf("found:\n%swant:\n%s", got, c.want)
			}
		})
	}
}

// A program that is built from sources which make a server is no service beside theirs.
func TestSourcesLeadBeforePrograms(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "bin/app"), elfWith([]string{serverSymbol}, nil))
	write(t, filepath.Join(dir, "src/main.cc"), []byte("auto server = builder.BuildAndStart();\n"))
	want := "C++, grpc++ (src/main.cc:1); health service not registered; port not known; TLS or plaintext not known\n"
	if got := analyzertest.Describe(analyzertest.Scan(t, Analyzer, dir)); got != want {
		t.Errorf("found:\n%swant:\n%s", got, want)
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// elfWith returns a program that has nothing but tables of the names of symbols.
func elfWith(dynamic, static []string) []byte {
	const headerSize, sectionSize = 64, 64
	names := []byte("\x00.dynstr\x00.strtab\x00.shstrtab\x00")
	tables := [][]byte{stringTable(dynamic), stringTable(static), names}
	body := bytes.Join(tables, nil)

	header := elf.Header64{
		Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1, Ehsize: headerSize,
		Shoff: uint64(headerSize + len(body)), Shentsize: sectionSize, Shnum: 4, Shstrndx: 3,
	}
	copy(header.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	sections := []elf.Section64{{}}
	at := uint64(headerSize)
	for i, name := range []uint32{1, 9, 17} {
		size := uint64(len(tables[i]))
		sections = append(sections, elf.Section64{
			Name: name, Type: uint32(elf.SHT_STRTAB), Off: at, Size: size, Addralign: 1,
		})
		at += size
	}

	var program bytes.Buffer
	for _, part := range []any{header, body, sections} {
		if err := binary.Write(&program, binary.LittleEndian, part); err != nil {
			panic(err)
		}
	}
	return program.Bytes()
}

func stringTable(names []string) []byte {
	table := []byte{0}
	for _, name := range names {
		table = append(append(table, name...), 0)
	}
	return table
}
