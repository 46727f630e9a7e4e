// Package executable checks whether the kernel of an image can execute a file. The input is a file and a platform, the
// output the file's defects.
//
// Begin with [Check], for a file that must be a program. [Foreign] is for files of any kind.
package executable

import (
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Platform is the operating system and the architecture of an image, as Go names them.
type Platform struct{ OS, Arch string }

// ErrArchitecture is in the error of Check for a program for another architecture.
var ErrArchitecture = errors.New("it is for another architecture")

// architecture is an ELF file's description of a Go architecture.
type architecture struct {
	machine elf.Machine
	class   elf.Class
	data    elf.Data
}

var architectures = map[string]architecture{
	"386":     {elf.EM_386, elf.ELFCLASS32, elf.ELFDATA2LSB},
	"amd64":   {elf.EM_X86_64, elf.ELFCLASS64, elf.ELFDATA2LSB},
	"arm":     {elf.EM_ARM, elf.ELFCLASS32, elf.ELFDATA2LSB},
	"arm64":   {elf.EM_AARCH64, elf.ELFCLASS64, elf.ELFDATA2LSB},
	"loong64": {elf.EM_LOONGARCH, elf.ELFCLASS64, elf.ELFDATA2LSB},
	"ppc64le": {elf.EM_PPC64, elf.ELFCLASS64, elf.ELFDATA2LSB},
	"riscv64": {elf.EM_RISCV, elf.ELFCLASS64, elf.ELFDATA2LSB},
	"s390x":   {elf.EM_S390, elf.ELFCLASS64, elf.ELFDATA2MSB},
}

func architectureOf(f *elf.File) architecture { return architecture{f.Machine, f.Class, f.Data} }

// String names the architecture for messages: by Go's name if any, else by ELF's.
func (a architecture) String() string {
	for name, other := range architectures {
		if a == other {
			return name
		}
	}
	return fmt.Sprintf("%s (%s, %s)", strings.TrimPrefix(a.machine.String(), "EM_"),
		strings.TrimPrefix(a.class.String(), "ELF"), strings.TrimPrefix(a.data.String(), "ELF"))
}

// Check returns an error if the platform's kernel does not execute the file: no program, for another system or
// architecture, or cut off. The interpreter is the loader of a dynamically linked program's libraries, "" for a static
// program. The image must have the interpreter.
func Check(file string, platform Platform) (interpreter string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	program, err := elf.NewFile(f)
	if err != nil {
		return "", fmt.Errorf("it is not a Linux program (ELF): %w", err)
	}
	if a := architectureOf(program); a != architectures[platform.Arch] {
		return "", fmt.Errorf("%w: %s, the image is for %s", ErrArchitecture, a, platform.Arch)
	}
	if interpreter, err = interpreterOf(program); err != nil {
		return "", err
	}
	if err := checkType(program, interpreter != ""); err != nil {
		return "", err
	}
	if err := checkSystem(program, interpreter, f, platform.OS); err != nil {
		return "", err
	}
	return interpreter, checkSegments(program, info.Size())
}

// interpreterOf returns the path in the segment PT_INTERP, "" for none.
func interpreterOf(f *elf.File) (string, error) {
	i := slices.IndexFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	if i < 0 {
		return "", nil
	}
	const maxPath = 4096 // bytes: Linux' PATH_MAX
	path, err := io.ReadAll(io.LimitReader(f.Progs[i].Open(), maxPath))
	if err != nil {
		return "", fmt.Errorf("reading which program loads it: %w", err)
	}
	return strings.TrimRight(string(path), "\x00"), nil
}

// checkType returns an error unless the ELF file is a program.
func checkType(f *elf.File, hasInterpreter bool) error {
	switch f.Type {
	case elf.ET_EXEC:
		return nil
	case elf.ET_REL:
		return errors.New("it is an object file that is not linked yet, not a program")
	case elf.ET_CORE:
		return errors.New("it is a core dump, not a program")
	case elf.ET_DYN:
		if isPositionIndependentProgram(f, hasInterpreter) {
			return nil
		}
		return errors.New("it is a shared library, not a program")
	}
	return fmt.Errorf("it is an ELF file of the type %d, not a program", f.Type)
}

// flagPIE in the entry DT_FLAGS_1 says that a file is a program. Linkers set it since 2015 (binutils 2.26).
const flagPIE = 0x08000000

// isPositionIndependentProgram tells programs from libraries of the same type. Older programs have no flag, but an
// interpreter or, if static, an entry for debuggers (DT_DEBUG): linkers give DT_DEBUG to programs alone. An executable
// library, such as the C library, has an interpreter too, and a name (DT_SONAME). Every library has a dynamic section;
// a packed program may have none.
func isPositionIndependentProgram(f *elf.File, hasInterpreter bool) bool {
	i := slices.IndexFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_DYNAMIC })
	if i < 0 {
		return true
	}
	const maxDynamic = 64 << 10 // bytes: programs have one
	content, err := io.ReadAll(io.LimitReader(f.Progs[i].Open(), maxDynamic))
	if err != nil {
		return false
	}
	word := 8
	if f.Class == elf.ELFCLASS32 {
		word = 4
	}
	isProgram, hasName := hasInterpreter, false
	for ; len(content) >= 2*word; content = content[2*word:] {
		tag, value := uint64(f.ByteOrder.Uint32(content)), uint64(f.ByteOrder.Uint32(content[4:]))
		if word == 8 {
			tag, value = f.ByteOrder.Uint64(content), f.ByteOrder.Uint64(content[8:])
		}
		switch elf.DynTag(tag) {
		case elf.DT_NULL:
			return isProgram && !hasName
		case elf.DT_SONAME:
			hasName = true
		case elf.DT_DEBUG:
			isProgram = true
		case elf.DT_FLAGS_1:
			if value&flagPIE != 0 {
				return true
			}
		}
	}
	return isProgram && !hasName
}

// otherInterpreters are the places of the loaders of libraries on the BSDs, Solaris and Android.
var otherInterpreters = []string{"/libexec/", "/usr/libexec/", "/usr/lib/ld.so", "/system/bin/"}

func checkSystem(f *elf.File, interpreter string, content io.ReaderAt, system string) error {
	switch abi := f.OSABI; {
	case abi == elf.ELFOSABI_NONE, abi == elf.ELFOSABI_LINUX, abi == elf.ELFOSABI_ARM && f.Machine == elf.EM_ARM:
	default:
		name := strings.ToLower(strings.TrimPrefix(abi.String(), "ELFOSABI_"))
		return fmt.Errorf("it is a program for another system: %s, the image is for %s", name, system)
	}
	for _, other := range otherInterpreters {
		if strings.HasPrefix(interpreter, other) {
			return fmt.Errorf("it is a program for another system: %q is to load it, the image is for %s",
				interpreter, system)
		}
	}
	if goos := goosOf(content); goos != "" && goos != system {
		return fmt.Errorf("it is a program for another system: %s, the image is for %s", goos, system)
	}
	return nil
}

// goosOf returns the operating system in the build info of a Go program, "" for none.
func goosOf(content io.ReaderAt) string {
	info, err := buildinfo.Read(content)
	if err != nil {
		return ""
	}
	for _, setting := range info.Settings {
		if setting.Key == "GOOS" {
			return setting.Value
		}
	}
	return ""
}

// checkSegments returns an error if the file is too short for its loaded segments, or has no code at the entry point.
func checkSegments(f *elf.File, size int64) error {
	begins := false
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		if end := p.Off + p.Filesz; end < p.Off || end > uint64(size) {
			return fmt.Errorf("it is cut off: it has %d bytes and should have %d", size, end)
		}
		begins = begins || p.Flags&elf.PF_X != 0 && f.Entry >= p.Vaddr && f.Entry-p.Vaddr < p.Memsz
	}
	if !begins {
		return errors.New("it is not a program: it has no code to begin with")
	}
	return nil
}
