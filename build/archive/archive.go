// Package archive unpacks what makers of programs put into their releases: tar, plain or packed with gzip or xz, zip, and
// single files packed with gzip or xz. An archive is foreign data: nothing in it gets outside the folder that it is
// unpacked into, and it may not be without measure. Begin with Unpack.
package archive

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"strings"

	"github.com/ulikunitz/xz"
)

// Is tells, by its first bytes, whether the file is one that Unpack unpacks.
func Is(file string) (bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return kindOf(bufio.NewReaderSize(f, startSize)) != plain, nil
}

type kind int

const (
	plain kind = iota
	isGzip
	isXZ
	isZip
	isTar
)

const (
	startSize = 3072 // what kinds are told by, in bytes: as much as github-assets-cnb looks at
	tarMagic  = 257  // where the magic is in a header of tar
)

func kindOf(r *bufio.Reader) kind {
	start, _ := r.Peek(startSize)
	switch {
	case bytes.HasPrefix(start, []byte("PK")) && bytes.Contains(start, []byte("META-INF/MANIFEST.MF")):
		return plain // a jar is a zip, and a program
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		return isGzip
	case bytes.HasPrefix(start, []byte("\xfd7zXZ\x00")):
		return isXZ
	case bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(start, []byte("PK\x05\x06")):
		return isZip
	case len(start) > tarMagic && bytes.HasPrefix(start[tarMagic:], []byte("ustar")):
		return isTar
	}
	return plain
}

// Unpack unpacks the archive in file, which its makers call name, into the folder dir, where it replaces files of the
// same name. It leaves off the first strip parts of each name in a tar, and none in a zip, as github-assets-cnb does. It
// returns the names of the files it made, as they are below dir. After an error dir holds a part.
func Unpack(file, name, dir string, strip int) ([]string, error) {
	names, err := unpack(file, name, dir, strip)
	if err != nil {
		return nil, fmt.Errorf("unpacking %q: %w", name, err)
	}
	return names, nil
}

func unpack(file, name, dir string, strip int) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	t, err := newTarget(dir, strip, info.Size())
	if err != nil {
		return nil, err
	}
	defer t.root.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	if kindOf(in) == isZip {
		err = t.zip(f, info.Size())
	} else {
		err = t.stream(in, name)
	}
	return t.files, err
}

// stream unpacks a tar or a single file, through the compressions around it.
func (t *target) stream(in *bufio.Reader, name string) error {
	switch kind := kindOf(in); kind {
	case isGzip, isXZ:
		unpacked, err := decompress(in, kind)
		if err != nil {
			return err
		}
		inner := bufio.NewReaderSize(t.budget.reader(unpacked), 1<<16)
		name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".xz")
		if kindOf(inner) == isTar {
			return t.tar(inner)
		}
		if _, err := inner.Peek(1); errors.Is(err, errBudget) {
			return err
		}
		t.strip = 0
		return t.file(path.Base(name), 0o644, inner)
	case isTar:
		return t.tar(t.budget.reader(in))
	}
	return errors.New("it is none of tar, gzip, xz and zip")
}

func decompress(in io.Reader, kind kind) (io.Reader, error) {
	if kind == isGzip {
		return gzip.NewReader(in)
	}
	return xz.NewReader(in)
}

func (t *target) tar(in io.Reader) error {
	reader := tar.NewReader(in)
	for {
		header, err := reader.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch header.Typeflag {
		case tar.TypeDir:
			err = t.folder(header.Name)
		case tar.TypeReg:
			// A sparse file is longer than what is read for it.
			if t.budget.sparse -= header.Size; t.budget.sparse < 0 {
				return errBudget
			}
			err = t.file(header.Name, header.FileInfo().Mode(), reader)
		case tar.TypeSymlink:
			err = t.link(header.Name, header.Linkname)
		case tar.TypeXGlobalHeader:
		default:
			err = fmt.Errorf("it has %q, which is no file, folder or symbolic link (type %q)", header.Name, header.Typeflag)
		}
		if err != nil {
			return err
		}
	}
}

func (t *target) zip(in io.ReaderAt, size int64) error {
	t.strip = 0
	// zip.NewReader takes in the list of all entries, however many there are.
	bounded := &boundedReaderAt{in, maxDirectory}
	reader, err := zip.NewReader(bounded, size)
	if err != nil {
		return err
	}
	if len(reader.File) > maxEntries {
		return errEntries
	}
	bounded.left = math.MaxInt64 // the entries' content has a budget of its own
	for _, entry := range reader.File {
		if err := t.zipped(entry); err != nil {
			return err
		}
	}
	return nil
}

func (t *target) zipped(entry *zip.File) error {
	if entry.Flags&1 != 0 {
		return fmt.Errorf("%q in it is encrypted", entry.Name)
	}
	if strings.HasSuffix(entry.Name, "/") {
		return t.folder(entry.Name)
	}
	content, err := entry.Open()
	if err != nil {
		return err
	}
	defer content.Close()
	bounded := t.budget.reader(content)
	switch mode := entry.Mode(); mode.Type() {
	case 0:
		return t.file(entry.Name, mode, bounded)
	case fs.ModeSymlink:
		to, err := io.ReadAll(io.LimitReader(bounded, maxLink))
		if err != nil {
			return err
		}
		return t.link(entry.Name, string(to))
	}
	return fmt.Errorf("it has %q, which is no file, folder or symbolic link", entry.Name)
}
