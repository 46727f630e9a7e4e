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
	// maxEntries bounds files, links and folders, those too that are only in the names of others.
	maxEntries = 100_000
	// maxDirectory bounds a zip's list of its entries, in bytes: as many as are allowed, with names of 280 bytes.
	maxDirectory = 32 << 20
	maxUnpacked  = 2 << 30 // bytes
	// A program shrinks to a third, text to a tenth: what grows a hundredfold and is not small is a bomb.
	maxGrowth   = 100
	smallEnough = 64 << 20 // bytes
	maxLink     = 4096     // bytes: Linux' PATH_MAX
	maxName     = maxLink
	maxFolders  = 100 // in a name; each is opened from the root on
)

// target is the folder that an archive is unpacked into.
type target struct {
	root    *os.Root
	strip   int
	entries int // with those that make nothing: a folder again, a name that is stripped
	budget  *budget
	// made are the names so far, by their lower case: on the disks of some machines two that differ by case are one.
	made  map[string]string
	files []string
}

func newTarget(dir string, strip int, packed int64) (*target, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	left := min(maxUnpacked, max(smallEnough, packed*maxGrowth))
	return &target{root: root, strip: strip, budget: &budget{left, left}, made: map[string]string{}}, nil
}

// budget is how many bytes may still be unpacked, and as how many bytes of files.
type budget struct{ left, sparse int64 }

var (
	errBudget    = errors.New("it unpacks to far more than it is: more than a hundred times its size, or 2 GiB")
	errEntries   = fmt.Errorf("it has more than %d entries", maxEntries)
	errDirectory = fmt.Errorf("its list of entries is longer than %d MiB", maxDirectory>>20)
)

type budgetReader struct {
	*budget
	in io.Reader
}

func (b *budget) reader(in io.Reader) io.Reader { return budgetReader{b, in} }

func (r budgetReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if r.left -= int64(n); r.left < 0 {
		return 0, errBudget
	}
	return n, err
}

// boundedReaderAt fails where more is read than is left, in bytes.
type boundedReaderAt struct {
	in   io.ReaderAt
	left int64
}

func (b *boundedReaderAt) ReadAt(p []byte, offset int64) (int, error) {
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errDirectory
	}
	return b.in.ReadAt(p, offset)
}

// place returns where an entry goes, "" for nowhere, and makes the folders above it.
func (t *target) place(name string) (string, error) {
	if t.entries++; t.entries > maxEntries {
		return "", errEntries
	}
	if len(name) > maxName || strings.Count(name, "/") > maxFolders {
		return "", fmt.Errorf("it has a name of %d bytes in %d folders, more than a path can have", len(name), strings.Count(name, "/"))
	}
	if path.IsAbs(name) || strings.ContainsAny(name, "\\\x00") {
		return "", fmt.Errorf("it has %q, whose name leads out of its folder", name)
	}
	parts := strings.Split(name, "/")
	if slices.Contains(parts, "..") {
		return "", fmt.Errorf("it has %q, whose name leads out of its folder", name)
	}
	// A dot in front is a part to strip, as it is for tar.
	parts = slices.DeleteFunc(parts[min(t.strip, len(parts)):], func(part string) bool { return part == "" || part == "." })
	if len(parts) == 0 {
		return "", nil
	}
	for i := range parts[:len(parts)-1] {
		if err := t.mkdir(strings.Join(parts[:i+1], "/")); err != nil {
			return "", err
		}
	}
	return strings.Join(parts, "/"), nil
}

// mkdir makes one folder, unless it is there. A link in its place is none: what is unpacked through one could be anywhere.
func (t *target) mkdir(name string) error {
	if t.made[strings.ToLower(name)] == name {
		if info, err := t.root.Lstat(name); err != nil || !info.IsDir() {
			return fmt.Errorf("it has something within %q, which is no folder", name)
		}
		return nil
	}
	if err := t.claim(name); err != nil {
		return err
	}
	if err := t.root.Mkdir(name, 0o755); errors.Is(err, fs.ErrExist) {
		if info, err := t.root.Lstat(name); err == nil && info.IsDir() {
			return nil // of an archive that was unpacked here before
		}
		return fmt.Errorf("it has something within %q, which is no folder", name)
	} else if err != nil {
		return err
	}
	return t.root.Chmod(name, 0o755) // not by the umask
}

// claim takes a name that no other entry has.
func (t *target) claim(name string) error {
	if other, taken := t.made[strings.ToLower(name)]; taken {
		return fmt.Errorf("it has both %q and %q, which are one on some machines", other, name)
	}
	if len(t.made) == maxEntries {
		return errEntries
	}
	t.made[strings.ToLower(name)] = name
	return nil
}

func (t *target) folder(name string) error {
	name, err := t.place(name)
	if err != nil || name == "" {
		return err
	}
	return t.mkdir(name)
}

func (t *target) file(name string, mode fs.FileMode, in io.Reader) error {
	name, err := t.place(name)
	if err != nil || name == "" {
		return err
	}
	if err := t.claim(name); err != nil {
		return err
	}
	t.files = append(t.files, name)
	return Put(t.root, name, in, mode&0o111 != 0)
}

// Put writes a file below root, executable where it says so or is a program. It replaces a file or link that is there.
func Put(root *os.Root, name string, in io.Reader, executable bool) error {
	if err := makeWay(root, name); err != nil {
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

// makeWay removes a file or link. What is there is of an asset before: within one archive no two entries have one name.
func makeWay(root *os.Root, name string) error {
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

// link makes a symbolic link that stays within the folder: its way up comes first and is no longer than its name, and
// there is no way up after that, since what looks like a folder may be a link.
func (t *target) link(name, to string) error {
	name, err := t.place(name)
	if err != nil || name == "" {
		return err
	}
	rest, up := to, 0
	for strings.HasPrefix(rest, "../") || rest == ".." {
		rest, up = strings.TrimPrefix(strings.TrimPrefix(rest, ".."), "/"), up+1
	}
	if out := fmt.Errorf("it has %q, a link to %q, which leads out of its folder", name, to); to == "" || path.IsAbs(to) ||
		up > strings.Count(name, "/") || strings.ContainsAny(to, "\\\x00") || len(to) >= maxLink {
		return out
	} else if strings.Contains("/"+rest+"/", "/../") {
		return out
	}
	if err := t.claim(name); err != nil {
		return err
	}
	if err := makeWay(t.root, name); err != nil {
		return err
	}
	return t.root.Symlink(to, name)
}

// isProgram tells by its first bytes what the kernel would execute.
func isProgram(start []byte) bool {
	return bytes.HasPrefix(start, []byte("\x7fELF")) || bytes.HasPrefix(start, []byte("#!"))
}
