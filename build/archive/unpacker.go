package archive

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

const (
	// maxEntries bounds the files, links and folders, with the folders that have no entry of their own.
	maxEntries = 100_000
	// maxDirectory bounds a zip's list of entries, in bytes: enough for maxEntries with names of 280 bytes.
	maxDirectory = 32 << 20
	maxUnpacked  = 2 << 30 // bytes
	// maxGrowth bounds the unpacked size as a multiple of the archive's size. Compression makes programs three times
	// smaller and text ten times. Up to smallEnough bytes are always allowed.
	maxGrowth   = 100
	smallEnough = 64 << 20
	maxLink     = 4096 // bytes: Linux' PATH_MAX
	maxName     = maxLink
	maxFolders  = 100 // folders in a name: os.Root opens all for every access
)

type unpacker struct {
	root    *os.Root
	strip   int
	entries int // entries so far, even without effect (an existing folder, a stripped name)
	budget  *budget
	// made are the names so far, by lower-case form: some file systems ignore case.
	made  map[string]string
	files []string
	links int
}

func newUnpacker(dir string, strip int, packed int64) (*unpacker, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	left := min(maxUnpacked, max(smallEnough, packed*maxGrowth))
	return &unpacker{root: root, strip: strip, budget: &budget{left, left}, made: map[string]string{}}, nil
}

// content returns the unpacked names. The absence of both files and links is an error.
func (u *unpacker) content() (Content, error) {
	content := Content{Files: u.files, Stripped: u.strip > 0}
	for _, name := range u.made {
		if !strings.Contains(name, "/") {
			content.Names = append(content.Names, name)
		}
	}
	slices.Sort(content.Names)
	switch {
	case len(u.files)+u.links > 0:
		return content, nil
	case u.strip > 0 && u.entries > 0:
		return content, fmt.Errorf("strip_components = %d leaves nothing of it: its names have no more parts", u.strip)
	}
	return content, errors.New("it holds no files")
}

// prepare makes the folders above an entry, and returns the entry's path relative to the root: "" if the whole name is
// stripped away.
func (u *unpacker) prepare(name string) (string, error) {
	if u.entries++; u.entries > maxEntries {
		return "", errEntries
	}
	if len(name) > maxName || strings.Count(name, "/") > maxFolders {
		return "", fmt.Errorf("it has a name of %d bytes in %d folders, more than a path can have",
			len(name), strings.Count(name, "/"))
	}
	if path.IsAbs(name) || strings.ContainsAny(name, "\\\x00") {
		return "", fmt.Errorf("it has %q, whose name leads out of its folder", name)
	}
	parts := strings.Split(name, "/")
	if slices.Contains(parts, "..") {
		return "", fmt.Errorf("it has %q, whose name leads out of its folder", name)
	}
	// A dot at the beginning counts as a part to strip, as in tar.
	parts = slices.DeleteFunc(parts[min(u.strip, len(parts)):],
		func(part string) bool { return part == "" || part == "." })
	if len(parts) == 0 {
		return "", nil
	}
	for i := range parts[:len(parts)-1] {
		if err := u.mkdir(strings.Join(parts[:i+1], "/")); err != nil {
			return "", err
		}
	}
	return strings.Join(parts, "/"), nil
}

// mkdir makes a folder unless the folder exists. A link does not count as a folder: files unpacked through a link could
// end up anywhere.
func (u *unpacker) mkdir(name string) error {
	if u.made[strings.ToLower(name)] == name {
		if info, err := u.root.Lstat(name); err != nil || !info.IsDir() {
			return fmt.Errorf("it has something within %q, which is not a folder", name)
		}
		return nil
	}
	if err := u.claim(name); err != nil {
		return err
	}
	if err := u.root.Mkdir(name, 0o755); errors.Is(err, fs.ErrExist) {
		if info, err := u.root.Lstat(name); err == nil && info.IsDir() {
			return nil // from an archive unpacked here before
		}
		return fmt.Errorf("it has something within %q, which is not a folder", name)
	} else if err != nil {
		return err
	}
	return u.root.Chmod(name, 0o755) // the mode must not depend on the umask
}

// claim records a name, or fails if another entry has the name.
func (u *unpacker) claim(name string) error {
	if other, taken := u.made[strings.ToLower(name)]; taken {
		return fmt.Errorf("it has both %q and %q, which are one on some machines", other, name)
	}
	if len(u.made) == maxEntries {
		return errEntries
	}
	u.made[strings.ToLower(name)] = name
	return nil
}

func (u *unpacker) folder(name string) error {
	name, err := u.prepare(name)
	if err != nil || name == "" {
		return err
	}
	return u.mkdir(name)
}

func (u *unpacker) file(name string, mode fs.FileMode, in io.Reader) error {
	name, err := u.prepare(name)
	if err != nil || name == "" {
		return err
	}
	if err := u.claim(name); err != nil {
		return err
	}
	u.files = append(u.files, name)
	return Put(u.root, name, in, mode&0o111 != 0)
}

// Put writes a file below root, and replaces a file or link of the same name. The file becomes executable if executable
// is set or the content is a program.
func Put(root *os.Root, name string, in io.Reader, executable bool) error {
	if err := removeExisting(root, name); err != nil {
		return err
	}
	out, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer out.Close()
	content := bufio.NewReader(in)
	start, _ := content.Peek(4)
	if _, err := io.Copy(out, content); err != nil {
		return err
	}
	permissions := fs.FileMode(0o644)
	if executable || isProgram(start) {
		permissions = 0o755
	}
	return errors.Join(out.Chmod(permissions), out.Close())
}

// removeExisting removes a file or link, if any. The file is from another archive, since the names within an archive
// are unique.
func removeExisting(root *os.Root, name string) error {
	switch info, err := root.Lstat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%q is a folder already", name)
	}
	return root.Remove(name)
}

// link makes a symbolic link, but none out of the folder. Any ".." must come first in the target, at most once for each
// folder in the name. Later ".." are refused, since an apparent folder may be a link.
func (u *unpacker) link(name, to string) error {
	name, err := u.prepare(name)
	if err != nil || name == "" {
		return err
	}
	rest, up := to, 0
	for strings.HasPrefix(rest, "../") || rest == ".." {
		rest, up = strings.TrimPrefix(strings.TrimPrefix(rest, ".."), "/"), up+1
	}
	out := fmt.Errorf("it has %q, a link to %q, which leads out of its folder", name, to)
	if to == "" || path.IsAbs(to) ||
		up > strings.Count(name, "/") || strings.ContainsAny(to, "\\\x00") || len(to) >= maxLink {
		return out
	} else if strings.Contains("/"+rest+"/", "/../") {
		return out
	}
	if err := u.claim(name); err != nil {
		return err
	}
	if err := removeExisting(u.root, name); err != nil {
		return err
	}
	u.links++
	return u.root.Symlink(to, name)
}

// isProgram reports whether the kernel would execute a file with this start.
func isProgram(start []byte) bool {
	return bytes.HasPrefix(start, []byte("\x7fELF")) || bytes.HasPrefix(start, []byte("#!"))
}
