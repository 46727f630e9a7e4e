// Package archive unpacks the archives that releases of programs contain: tar, plain or compressed with gzip or xz,
// zip, and single files compressed with gzip or xz. Archives are untrusted: no entry gets outside the target folder,
// and the number of entries and the unpacked size are bounded.
//
// Begin with [Unpack].
package archive

import (
	"archive/tar"
	"archive/zip"
	"bufio"
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

// Is reports whether Unpack can unpack the file, by the first bytes. Is returns an error for an archive of another
// format, and for a file with only the name of an archive.
func Is(file, name string) (bool, error) {
	f, err := os.Open(file)
	if err != nil {
		return false, err
	}
	defer f.Close()
	reader := bufio.NewReaderSize(f, startSize)
	if kindOf(reader) != other {
		return true, nil
	}
	start, _ := reader.Peek(startSize)
	if err := checkSupported(start, name); err != nil {
		return false, fmt.Errorf("unpacking %q: %w", name, err)
	}
	return false, nil
}

// Content lists the unpacked names of an archive.
type Content struct {
	// Files are the names of the files, relative to the folder.
	Files []string
	// Names are the names of everything at the top of the folder: files, folders and links.
	Names []string
	// Stripped reports whether the names were shortened, which happens only in a tar.
	Stripped bool
}

// Unpack unpacks the archive in file into the folder dir, and replaces files of the same name. Name is the archive's
// original name, and the source of the name of a single compressed file. Unpack removes the first strip parts of each
// name in a tar, and none in a zip, as github-assets-cnb does. If nothing is left, Unpack returns an error. After an
// error dir holds a part of the archive.
func Unpack(file, name, dir string, strip int) (Content, error) {
	content, err := unpack(file, name, dir, strip)
	if err != nil {
		return Content{}, fmt.Errorf("unpacking %q: %w", name, err)
	}
	return content, nil
}

func unpack(file, name, dir string, strip int) (Content, error) {
	f, err := os.Open(file)
	if err != nil {
		return Content{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Content{}, err
	}
	u, err := newUnpacker(dir, strip, info.Size())
	if err != nil {
		return Content{}, err
	}
	defer u.root.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	if kindOf(in) == isZip {
		err = u.zip(f, info.Size())
	} else {
		err = u.stream(in, name)
	}
	if err != nil {
		return Content{}, err
	}
	return u.content()
}

// stream unpacks a tar, compressed or not, or a single compressed file.
func (u *unpacker) stream(in *bufio.Reader, name string) error {
	switch kind := kindOf(in); kind {
	case isGzip, isXZ:
		unpacked, err := decompress(in, kind)
		if err != nil {
			return err
		}
		inner := bufio.NewReaderSize(u.budget.reader(unpacked), 1<<16)
		name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".xz")
		if kindOf(inner) == isTar {
			return u.tar(inner)
		}
		if _, err := inner.Peek(1); errors.Is(err, errBudget) {
			return err
		}
		u.strip = 0
		return u.file(path.Base(name), 0o644, inner)
	case isTar:
		return u.tar(u.budget.reader(in))
	}
	return errors.New("it is none of tar, gzip, xz and zip")
}

func decompress(in io.Reader, kind kind) (io.Reader, error) {
	if kind == isGzip {
		return gzip.NewReader(in)
	}
	return xz.NewReader(in)
}

func (u *unpacker) tar(in io.Reader) error {
	reader := tar.NewReader(in)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch header.Typeflag {
		case tar.TypeDir:
			err = u.folder(header.Name)
		case tar.TypeReg:
			// A sparse file is longer than its bytes in the archive.
			if u.budget.sparse -= header.Size; u.budget.sparse < 0 {
				return errBudget
			}
			err = u.file(header.Name, header.FileInfo().Mode(), reader)
		case tar.TypeSymlink:
			err = u.link(header.Name, header.Linkname)
		case tar.TypeXGlobalHeader:
		default:
			err = fmt.Errorf("it has %q, which is not a file, folder or symbolic link (type %q)",
				header.Name, header.Typeflag)
		}
		if err != nil {
			return err
		}
	}
}

func (u *unpacker) zip(in io.ReaderAt, size int64) error {
	u.strip = 0
	// zip.NewReader reads the list of all entries into memory, without a bound.
	bounded := &boundedReaderAt{in, maxDirectory}
	reader, err := zip.NewReader(bounded, size)
	if err != nil {
		return err
	}
	if len(reader.File) > maxEntries {
		return errEntries
	}
	bounded.left = math.MaxInt64 // the content of the entries counts against the budget
	for _, entry := range reader.File {
		if err := u.zipped(entry); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacker) zipped(entry *zip.File) error {
	if entry.Flags&1 != 0 {
		return fmt.Errorf("%q in it is encrypted", entry.Name)
	}
	if strings.HasSuffix(entry.Name, "/") {
		return u.folder(entry.Name)
	}
	content, err := entry.Open()
	if err != nil {
		return err
	}
	defer content.Close()
	bounded := u.budget.reader(content)
	switch mode := entry.Mode(); mode.Type() {
	case 0:
		return u.file(entry.Name, mode, bounded)
	case fs.ModeSymlink:
		to, err := io.ReadAll(io.LimitReader(bounded, maxLink))
		if err != nil {
			return err
		}
		return u.link(entry.Name, string(to))
	}
	return fmt.Errorf("it has %q, which is not a file, folder or symbolic link", entry.Name)
}
