package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/manifest"
)

const stdin = "-"

// file is a file of manifests, before and after the change.
type file struct {
	name         string
	old, changed []byte
	manifest     *manifest.File
}

// read reads the files, folders and standard input of the flag -f. All are parsed before any is written.
func (p *program) read() ([]*file, error) {
	var files []*file
	for _, path := range p.paths {
		names := []string{path}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			if names, err = manifestsIn(path); err != nil {
				return nil, fmt.Errorf("reading the folder %q: %w", path, err)
			}
		}
		for _, name := range names {
			f, err := p.readFile(name)
			if err != nil {
				return nil, err
			}
			files = append(files, f)
		}
	}
	return files, nil
}

func (p *program) readFile(name string) (*file, error) {
	f := &file{name: name}
	var err error
	if name == stdin {
		f.old, err = readAll(p.in)
	} else {
		var opened *os.File
		if opened, err = os.Open(name); err == nil {
			f.old, err = readAll(opened)
			_ = opened.Close() // it was read
		}
	}
	if err == nil {
		f.manifest, err = manifest.Parse(f.old)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %q: %w", name, err)
	}
	return f, nil
}

// manifestsIn returns the files of YAML and JSON in a folder, except in hidden folders.
func manifestsIn(folder string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != folder && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case !entry.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)):
			names = append(names, path)
		}
		return nil
	})
	return names, err
}

// write writes the changed files, each one whole. All new files are complete, beside the old files, before the first
// replaces an old file. Standard input goes to standard output.
func (p *program) write(files []*file) error {
	written := map[string]string{}
	defer func() {
		for _, temporary := range written {
			_ = os.Remove(temporary) // there is none if it has replaced the old one
		}
	}()
	for _, f := range files {
		if f.name == stdin {
			if _, err := p.out.Write(f.changed); err != nil {
				return fmt.Errorf("writing standard output: %w", err)
			}
			continue
		}
		if bytes.Equal(f.old, f.changed) {
			continue
		}
		target, err := filepath.EvalSymlinks(f.name)
		if err == nil {
			written[target], err = writeBeside(target, f.changed)
		}
		if err != nil {
			return fmt.Errorf("writing %q: %w", f.name, err)
		}
	}
	for target, temporary := range written {
		if err := os.Rename(temporary, target); err != nil {
			return fmt.Errorf("writing %q: %w", target, err)
		}
	}
	return nil
}

// writeBeside writes a new file in the folder of a target, with the target's mode, and returns the new file's name.
func writeBeside(target string, text []byte) (name string, err error) {
	info, err := os.Stat(target)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(target), ".grpc-probes-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(info.Mode().Perm())
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return f.Name(), err
}
