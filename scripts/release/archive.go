package main

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// packTime is the time of all files in an archive, as in pack's packages.
var packTime = time.Date(1980, time.January, 1, 0, 0, 1, 0, time.UTC)

// archive writes the content of a folder to a .tgz file. The archive is the same wherever it is made: the entries are
// in order, without owners, times or the umask. Names have no ./ before them, since Spring Boot looks for the name
// buildpack.toml.
func archive(folder, name string) (err error) {
	file, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("creating the archive of %q: %w", folder, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	compressed := gzip.NewWriter(file)
	archive := tar.NewWriter(compressed)
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == folder {
			return err
		}
		return add(archive, folder, path, entry)
	})
	if err != nil {
		return fmt.Errorf("archiving %q: %w", folder, err)
	}
	return errors.Join(archive.Close(), compressed.Close())
}

func add(archive *tar.Writer, folder, path string, entry fs.DirEntry) error {
	info, err := entry.Info()
	if err != nil {
		return err
	}
	link := ""
	if entry.Type() == fs.ModeSymlink {
		if link, err = os.Readlink(path); err != nil {
			return err
		}
	}
	header, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	name, err := filepath.Rel(folder, path)
	if err != nil {
		return err
	}
	header = &tar.Header{
		Typeflag: header.Typeflag, Name: filepath.ToSlash(name), Linkname: link, Size: header.Size,
		Mode: mode(info.Mode()), ModTime: packTime, Format: tar.FormatUSTAR,
	}
	if entry.IsDir() {
		header.Name += "/"
	}
	if err := archive.WriteHeader(header); err != nil || !entry.Type().IsRegular() {
		return err
	}
	return copyFile(archive, path)
}

// mode returns the permissions in the archive, the same for every umask: the same for all users, except that only the
// owner writes.
func mode(mode fs.FileMode) int64 {
	switch {
	case mode.Type() == fs.ModeSymlink:
		return 0o777
	case mode.IsDir(), mode&0o111 != 0:
		return 0o755
	}
	return 0o644
}

func copyFile(to io.Writer, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(to, file)
	return err
}
