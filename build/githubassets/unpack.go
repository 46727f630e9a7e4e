package githubassets

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/build/archive"
)

// unpack unpacks an archive at the destination, and returns the names of the files in the archive.
func (i *installation) unpack(root *os.Root) ([]string, error) {
	destination := path.Clean(i.request.Destination)
	if err := makeFolders(root, destination); err != nil {
		return nil, fmt.Errorf("unpacking %s into %q: %w", i.asset, i.request.Destination, err)
	}
	content, err := archive.Unpack(i.file, i.asset.Asset, filepath.Join(root.Name(), destination),
		i.request.StripComponents)
	if err != nil {
		return nil, err
	}
	i.warnOfStripping(!content.Stripped)
	if name := launcherName(content.Names); destination == "." && name != "" {
		return nil, fmt.Errorf("unpacking %s: it puts %q at the layer's root, where the image's launcher runs or "+
			"sets what is in it (set a destination)",
			i.asset, name)
	}
	files := content.Files
	for n, name := range files {
		files[n] = path.Join(destination, name)
	}
	return files, nil
}

// launcherName returns the first name at the root of an archive that the launcher acts upon, or "" (buildpack spec,
// Environment and exec.d). An archive must not bring such a name: the content would run unasked in the app's container,
// and a file in place of a folder would keep every process of the image from starting. A link of such a name is refused
// too, since a later asset may fill the link's target. Users who want such a name set it as a destination.
func launcherName(names []string) string {
	for _, name := range names {
		if slices.Contains([]string{"env", "env.launch", "exec.d", "profile.d"}, name) {
			return name
		}
	}
	return ""
}

// makeFolders makes a folder of the layer and the folders above, with a mode independent of the build machine's umask.
// A link of an earlier archive does not count as a folder.
func makeFolders(root *os.Root, name string) error {
	if name == "." {
		return nil
	}
	if err := makeFolders(root, path.Dir(name)); err != nil {
		return err
	}
	if info, err := root.Lstat(name); err == nil && !info.IsDir() {
		return fmt.Errorf("%q exists and is not a folder", name)
	}
	if err := root.Mkdir(name, 0o755); err != nil && !os.IsExist(err) {
		return err
	}
	return root.Chmod(name, 0o755)
}

// copy puts a single file at the destination. A destination with a slash at the end is a folder for the file.
func (i *installation) copy(root *os.Root) ([]string, error) {
	name := cmp.Or(i.request.Destination, "bin/")
	if strings.HasSuffix(name, "/") {
		name += i.asset.Asset
	}
	name = path.Clean(name)
	in, err := os.Open(i.file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	err = makeFolders(root, path.Dir(name))
	if err == nil {
		err = archive.Put(root, name, in, false)
	}
	if err != nil {
		return nil, fmt.Errorf("installing %s as %q: %w", i.asset, name, err)
	}
	return []string{name}, nil
}
