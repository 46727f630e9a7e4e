// Package executabletest makes small ELF files for tests. Begin with [File].
package executabletest

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
)

// File is an ELF file of 64 bits. The zero value, except the machine, is a program for Linux.
type File struct {
	// Machine is the machine, Type the type, elf.ET_EXEC by default.
	Machine elf.Machine
	Type    elf.Type
	// OSABI is the system.
	OSABI elf.OSABI
	// Interpreter is the loader of the program, "" for none.
	Interpreter string
	// Dynamic are the tags and values of the dynamic section, nil for none.
	Dynamic []uint64
}

const (
	base       = 0x400000 // the address of the first byte
	headerSize = 64       // of the ELF header, in bytes
	segment    = 56       // the size of a program header, in bytes
)

// exit is the code of a program that ends at once, by machine: exit(0) in the system calls of Linux.
var exit = map[elf.Machine][]byte{
	elf.EM_X86_64:  {0xb8, 0x3c, 0, 0, 0, 0x31, 0xff, 0x0f, 0x05},             // mov $60,%eax; xor %edi,%edi; syscall
	elf.EM_AARCH64: {0xa8, 0x0b, 0x80, 0xd2, 0, 0, 0x80, 0xd2, 1, 0, 0, 0xd4}, // mov x8,#93; mov x0,#0; svc #0
}

// Bytes returns the file.
func (f File) Bytes() []byte {
	var dynamic bytes.Buffer
	write(&dynamic, f.Dynamic)
	segments := 1
	if f.Interpreter != "" {
		segments++
	}
	if f.Dynamic != nil {
		segments++
	}
	start := uint64(headerSize + segments*segment)
	var content []byte
	content = append(content, exit[f.Machine]...)
	interpreterAt := start + uint64(len(content))
	content = append(content, f.Interpreter...)
	dynamicAt := start + uint64(len(content))
	content = append(content, dynamic.Bytes()...)

	header := elf.Header64{
		Type: uint16(max(f.Type, elf.ET_REL)), Machine: uint16(f.Machine),
		Version: uint32(elf.EV_CURRENT), Entry: base + start, Phoff: headerSize, Ehsize: headerSize,
		Phentsize: segment, Phnum: uint16(segments),
	}
	if f.Type == elf.ET_NONE {
		header.Type = uint16(elf.ET_EXEC)
	}
	copy(header.Ident[:], elf.ELFMAG)
	header.Ident[elf.EI_CLASS], header.Ident[elf.EI_DATA] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB)
	header.Ident[elf.EI_VERSION], header.Ident[elf.EI_OSABI] = byte(elf.EV_CURRENT), byte(f.OSABI)

	size := start + uint64(len(content))
	var file bytes.Buffer
	write(&file, header)
	write(&file, elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: base, Paddr: base,
		Filesz: size, Memsz: size, Align: 0x1000,
	})
	if f.Interpreter != "" {
		write(&file, elf.Prog64{Type: uint32(elf.PT_INTERP), Off: interpreterAt, Filesz: uint64(len(f.Interpreter))})
	}
	if f.Dynamic != nil {
		write(&file, elf.Prog64{Type: uint32(elf.PT_DYNAMIC), Off: dynamicAt, Filesz: uint64(dynamic.Len())})
	}
	file.Write(content)
	return file.Bytes()
}

// write writes a value to a buffer, which takes everything.
func write(to *bytes.Buffer, value any) {
	if err := binary.Write(to, binary.LittleEndian, value); err != nil {
		panic(err)
	}
}
