package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// program is a program to measure.
type program struct {
	name string // in the report
	path string
	size int64 // of the file, in bytes
}

// parseProgram parses NAME=PATH, or PATH alone. Without NAME, the name is the file's name.
func parseProgram(word string) program {
	if name, path, ok := strings.Cut(word, "="); ok {
		return program{name: name, path: path}
	}
	return program{name: filepath.Base(word), path: word}
}

// all returns every program, the floors first.
func (c *config) all() []program { return slices.Concat(c.floors, c.programs) }

// install copies each program into dir, for the measurements to use the copies. A file fresh from a linker lies in the
// page cache in other pieces than a copy, and runs up to 15% slower: a program copied to this machine could not be
// compared with a program built here.
func (c *config) install(dir string) error {
	programs := c.all()
	for i := range programs {
		p := &programs[i]
		binary, err := os.ReadFile(p.path)
		if err != nil {
			return fmt.Errorf("reading program %q: %w", p.name, err)
		}
		p.size = int64(len(binary))
		p.path = filepath.Join(dir, "program"+strconv.Itoa(i))
		if err := os.WriteFile(p.path, binary, 0o755); err != nil {
			return fmt.Errorf("copying program %q: %w", p.name, err)
		}
	}
	c.floors, c.programs = programs[:len(c.floors)], programs[len(c.floors):]
	return nil
}

// check makes sure that the programs are probes: each must find the server healthy, and an unknown service not. Any
// other program would be fast for nothing.
func (c *config) check(protocols []protocol) error {
	for _, p := range c.programs {
		for _, protocol := range protocols {
			if out, err := exec.Command(p.path, protocol.args()...).CombinedOutput(); err != nil {
				return fmt.Errorf("checking program %q: it fails against a healthy server in %s: %w: %q", p.name,
					protocol.Name, err, out)
			}
			unknown := append(protocol.args(), "-service=unknown")
			if err := exec.Command(p.path, unknown...).Run(); err == nil {
				return fmt.Errorf("checking program %q: it finds an unknown service healthy in %s: "+
					"is it a gRPC health probe?",
					p.name, protocol.Name)
			}
		}
	}
	return nil
}
