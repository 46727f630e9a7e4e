package executable_test

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/build/executable"
	"github.com/grpc-cnb/health-probe/build/executable/executabletest"
)

var amd64 = executable.Platform{OS: "linux", Arch: "amd64"}

func writeFile(t *testing.T, content []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, content, 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

const (
	loader    = "/lib64/ld-linux-x86-64.so.2"
	pie       = 0x08000000
	otherFlag = 1
	flags     = uint64(elf.DT_FLAGS_1)
	name      = uint64(elf.DT_SONAME)
	debug     = uint64(elf.DT_DEBUG)
	end       = uint64(0)
)

// checked are files, for amd64 unless they say otherwise. Each has the error, or how it is loaded.
var checked = map[string]struct {
	file executabletest.File
	want string
}{
	"static":     {executabletest.File{}, ""},
	"Linux' own": {executabletest.File{OSABI: elf.ELFOSABI_LINUX}, ""},
	"dynamic":    {executabletest.File{Interpreter: loader}, loader},
	"static PIE": {executabletest.File{Type: elf.ET_DYN, Dynamic: []uint64{flags, pie, end, 0}}, ""},
	"old static PIE": {
		executabletest.File{Type: elf.ET_DYN, Dynamic: []uint64{debug, 0, flags, otherFlag, end, 0}}, "",
	},
	"packed PIE": {executabletest.File{Type: elf.ET_DYN}, ""},
	"PIE": {
		executabletest.File{Type: elf.ET_DYN, Interpreter: loader, Dynamic: []uint64{flags, pie}},
		loader,
	},
	"an old PIE": {
		executabletest.File{Type: elf.ET_DYN, Interpreter: loader, Dynamic: []uint64{end, 0}},
		loader,
	},
	"a library": {
		executabletest.File{Type: elf.ET_DYN, Dynamic: []uint64{flags, otherFlag, end, 0}},
		"it is a shared library, not a program",
	},
	"the C library": {
		executabletest.File{Type: elf.ET_DYN, Interpreter: loader, Dynamic: []uint64{name, 1, end, 0}},
		"it is a shared library, not a program",
	},
	"a library that can be started": {
		executabletest.File{Type: elf.ET_DYN, Dynamic: []uint64{debug, 0, name, 1, end, 0}},
		"it is a shared library, not a program",
	},
	"an object": {
		executabletest.File{Type: elf.ET_REL},
		"it is an object file that is not linked yet, not a program",
	},
	"a core": {executabletest.File{Type: elf.ET_CORE}, "it is a core dump, not a program"},
	"FreeBSD": {
		executabletest.File{OSABI: elf.ELFOSABI_FREEBSD},
		"it is a program for another system: freebsd, the image is for linux",
	},
	"Solaris": {
		executabletest.File{OSABI: elf.ELFOSABI_SOLARIS},
		"it is a program for another system: solaris, the image is for linux",
	},
	"a BSD": {
		executabletest.File{Interpreter: "/usr/libexec/ld.so"},
		`it is a program for another system: "/usr/libexec/ld.so" is to load it, the image is for linux`,
	},
	"Android": {
		executabletest.File{Interpreter: "/system/bin/linker64"},
		`it is a program for another system: "/system/bin/linker64" is to load it, the image is for linux`,
	},
	"arm64": {
		executabletest.File{Machine: elf.EM_AARCH64},
		"it is for another architecture: arm64, the image is for amd64",
	},
	"another": {
		executabletest.File{Machine: elf.EM_SPARCV9},
		"it is for another architecture: SPARCV9 (CLASS64, DATA2LSB), the image is for amd64",
	},
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for title, c := range checked {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			if c.file.Machine == elf.EM_NONE {
				c.file.Machine = elf.EM_X86_64
			}
			got, err := executable.Check(writeFile(t, c.file.Bytes()), amd64)
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// A download that broke off, and a header alone, are no programs.
func TestCheckRefusesWhatIsCutOff(t *testing.T) {
	t.Parallel()
	whole := executabletest.File{Machine: elf.EM_X86_64}.Bytes()
	if _, err := executable.Check(writeFile(t, whole[:len(whole)-1]), amd64); err == nil ||
		!strings.HasPrefix(err.Error(), "it is cut off: it has 128 bytes and should have 129") {
		t.Errorf("the error is %v", err)
	}
	header := make([]byte, 64)
	copy(header, whole)
	header[56] = 0 // the number of segments
	if _, err := executable.Check(writeFile(t, header), amd64); err == nil ||
		err.Error() != "it is not a program: it has no code to begin with" {
		t.Errorf("the error is %v", err)
	}
	if _, err := executable.Check(writeFile(t, []byte("#!/bin/sh\n")), amd64); err == nil ||
		!strings.HasPrefix(err.Error(), "it is not a Linux program (ELF): ") {
		t.Errorf("the error is %v", err)
	}
}

// What Go makes is taken for what it is: by its build info too, which alone tells some systems from Linux.
func TestCheckOfGoPrograms(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for system, want := range map[string]string{
		"linux":     "",
		"dragonfly": "it is a program for another system: dragonfly, the image is for linux",
	} {
		file := filepath.Join(t.TempDir(), "program")
		build := exec.Command("go", "build", "-o", file, source)
		build.Env = append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=-trimpath")
		if output, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		_, err := executable.Check(file, amd64)
		if message := messageOf(err); message != want {
			t.Errorf("%s: the error is %q, want %q", system, message, want)
		}
	}
}

func messageOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// The small programs of the tests are programs: the kernel executes them.
func TestSmallProgramsRun(t *testing.T) {
	t.Parallel()
	machine, ok := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
	if runtime.GOOS != "linux" || !ok {
		t.Skip("the small programs are for Linux on amd64 and arm64")
	}
	file := writeFile(t, executabletest.File{Machine: machine}.Bytes())
	if err := exec.Command(file).Run(); err != nil {
		t.Error(err)
	}
}

func TestForeign(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		content []byte
		native  bool
		foreign string
	}{
		"text":      {[]byte("text"), false, ""},
		"empty":     {nil, false, ""},
		"own":       {executabletest.File{Machine: elf.EM_X86_64}.Bytes(), true, ""},
		"a library": {executabletest.File{Machine: elf.EM_X86_64, Type: elf.ET_DYN}.Bytes(), true, ""},
		"arm64":     {executabletest.File{Machine: elf.EM_AARCH64}.Bytes(), true, "arm64"},
		"FreeBSD": {
			executabletest.File{Machine: elf.EM_X86_64, OSABI: elf.ELFOSABI_FREEBSD}.Bytes(),
			true,
			"freebsd",
		},
		"for BPF": {executabletest.File{Machine: elf.EM_BPF, Type: elf.ET_DYN}.Bytes(), false, ""},
		"macOS":   {[]byte("\xcf\xfa\xed\xfe\x0c\x00\x00\x01" + strings.Repeat("\x00", 24)), true, "macOS (arm64)"},
		"Java":    {[]byte("\xca\xfe\xba\xbe\x00\x00\x00\x34" + strings.Repeat("\x01", 24)), false, ""},
		"a zip":   {[]byte("PK\x03\x04"), false, ""},
	} {
		native, foreign := executable.Foreign(writeFile(t, c.content), amd64)
		if native != c.native || foreign != c.foreign {
			t.Errorf("%s: got %v, %q, want %v, %q", name, native, foreign, c.native, c.foreign)
		}
	}
}
