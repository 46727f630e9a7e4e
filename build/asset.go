package build

import (
	"cmp"
	"debug/buildinfo"
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/package-url/packageurl-go"

	"github.com/grpc-cnb/health-probe/build/archive"
	"github.com/grpc-cnb/health-probe/build/assets"
	"github.com/grpc-cnb/health-probe/build/github"
)

// foundAsset is an asset that was found and is to be put into a layer.
type foundAsset struct {
	client  *github.Client
	release github.Release
	entry   assets.Entry
	// file is what was downloaded.
	file string
}

// install puts the asset into the layer's folder, and returns the names of the files in it that came of it.
func (a foundAsset) install(dir string) ([]string, error) {
	packed, err := archive.Is(a.file)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if packed && a.entry.Layer != assets.VariablesLayer {
		return a.unpack(root)
	}
	return a.place(root)
}

func (a foundAsset) unpack(root *os.Root) ([]string, error) {
	destination := path.Clean(a.entry.Destination)
	if err := makeFolders(root, destination); err != nil {
		return nil, fmt.Errorf("unpacking %s into %q: %w", a.release.Asset, a.entry.Destination, err)
	}
	files, err := archive.Unpack(a.file, a.release.Name, filepath.Join(root.Name(), destination), a.entry.StripComponents)
	if err != nil {
		return nil, err
	}
	if name := launcherEntry(root); destination == "." && name != "" {
		return nil, fmt.Errorf("unpacking %s: it puts %q at the layer's root, where the image's launcher runs or sets what is in it (set a destination)",
			a.release.Asset, name)
	}
	for i, name := range files {
		files[i] = path.Join(destination, name)
	}
	return files, nil
}

// launcherEntry returns a name at the layer's root that the launcher acts upon, or "" (buildpack spec, Environment and
// exec.d). A user may ask for one by a destination; what an archive brings unasked would run in the app's container. So
// would a link of such a name, even to a folder that only the next asset fills; and where a file has it, nothing starts.
func launcherEntry(root *os.Root) string {
	for _, name := range []string{"env", "env.launch", "exec.d", "profile.d"} {
		if _, err := root.Lstat(name); err == nil {
			return name
		}
	}
	return ""
}

// makeFolders makes a folder of the layer, with a mode that the build machine's umask has no part in. An archive before
// may have left a link in its place: that is none.
func makeFolders(root *os.Root, name string) error {
	if name == "." {
		return nil
	}
	if err := makeFolders(root, path.Dir(name)); err != nil {
		return err
	}
	if info, err := root.Lstat(name); err == nil && !info.IsDir() {
		return fmt.Errorf("%q is there and is no folder", name)
	}
	if err := root.Mkdir(name, 0o755); err != nil && !os.IsExist(err) {
		return err
	}
	return root.Chmod(name, 0o755)
}

// place puts a single file where the entry says: a name, or a folder with a slash behind it.
func (a foundAsset) place(root *os.Root) ([]string, error) {
	name := cmp.Or(a.entry.Destination, "bin/")
	if strings.HasSuffix(name, "/") {
		name += a.release.Name
	}
	name = path.Clean(name)
	in, err := os.Open(a.file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	err = makeFolders(root, path.Dir(name))
	if err == nil {
		err = archive.Put(root, name, in, false)
	}
	if err != nil {
		return nil, fmt.Errorf("installing %s as %q: %w", a.release.Asset, name, err)
	}
	return []string{name}, nil
}

// component returns what the SBOM says of the asset, and of each Go program among its files.
func (a foundAsset) component(dir string, files []string) (component, error) {
	asset := component{name: a.release.Name, version: a.release.Tag, purl: purlOf(a.client, a.release), sha256: a.release.SHA256,
		origin: a.client.Address(a.release)}
	for _, name := range files {
		file := filepath.Join(dir, name)
		info, err := buildinfo.ReadFile(file)
		if err != nil {
			continue // no Go program
		}
		digest, err := digestOf(file)
		if err != nil {
			return asset, err
		}
		program := goProgram(info, info.Main.Version)
		program.name, program.version, program.sha256 = name, info.Main.Version, digest
		asset.parts = append(asset.parts, program)
	}
	return asset, nil
}

// purlOf returns the package URL of a release (purl-spec, type github, which knows no capitals).
func purlOf(client *github.Client, release github.Release) string {
	owner, name, _ := strings.Cut(strings.ToLower(release.Repo), "/")
	var elsewhere packageurl.Qualifiers
	if web := client.Web(); web.Host != "github.com" {
		elsewhere = packageurl.QualifiersFromMap(map[string]string{"repository_url": (&url.URL{Scheme: web.Scheme, Host: web.Host}).String()})
	}
	return packageurl.NewPackageURL(packageurl.TypeGithub, owner, name, release.Tag, elsewhere, "").ToString()
}
