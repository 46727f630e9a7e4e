package launch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Digest returns the SHA-256, in hex, of a folder: the names, the modes, the targets of links and the content of files.
func Digest(dir string) (string, error) {
	digest := sha256.New()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == dir {
			return nil // its mode is the platform's matter
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		size := int64(0)
		if info.Mode().IsRegular() {
			size = info.Size()
		}
		fmt.Fprintf(digest, "%q %v %d\n", name, info.Mode(), size)
		switch {
		case entry.Type() == fs.ModeSymlink:
			to, err := os.Readlink(path)
			fmt.Fprintf(digest, "%q\n", to)
			return err
		case info.Mode().IsRegular():
			return copyFile(digest, path)
		}
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("reading what the layer %q holds: %w", filepath.Base(dir), err)
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
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
