package executable

import (
	"debug/elf"
	"debug/macho"
	"debug/pe"
	"fmt"
	"strings"
)

// clrHeader is the index of the data directory of programs for .NET, which run on any system (PE format, Optional
// Header Data Directories).
const clrHeader = pe.IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR

// Foreign reports whether a file is native code (a program or a library), and its platform: "" for the given platform.
func Foreign(file string, platform Platform) (native bool, foreign string) {
	if f, err := elf.Open(file); err == nil {
		defer f.Close()
		switch a := architectureOf(f); {
		case f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN, f.Machine == elf.EM_BPF:
			return false, ""
		case a != architectures[platform.Arch]:
			return true, a.String()
		case f.OSABI != elf.ELFOSABI_NONE && f.OSABI != elf.ELFOSABI_LINUX && f.Machine != elf.EM_ARM:
			return true, strings.ToLower(strings.TrimPrefix(f.OSABI.String(), "ELFOSABI_"))
		}
		return true, ""
	}
	if f, err := macho.Open(file); err == nil {
		defer f.Close()
		return true, fmt.Sprintf("macOS (%s)", strings.ToLower(strings.TrimPrefix(f.Cpu.String(), "Cpu")))
	}
	if f, err := macho.OpenFat(file); err == nil {
		defer f.Close()
		return true, "macOS"
	}
	if f, err := pe.Open(file); err == nil {
		defer f.Close()
		if isManaged(f) {
			return false, ""
		}
		return true, "Windows"
	}
	return false, ""
}

func isManaged(f *pe.File) bool {
	switch header := f.OptionalHeader.(type) {
	case *pe.OptionalHeader32:
		return header.DataDirectory[clrHeader].Size > 0
	case *pe.OptionalHeader64:
		return header.DataDirectory[clrHeader].Size > 0
	}
	return false
}
