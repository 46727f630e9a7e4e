package githubassets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/nearest"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

const (
	projectFile = "project.toml"
	maxFile     = 256 << 10 // bytes
	// tableName is the name of the tables with the assets.
	tableName = "githubassets"
)

// readRequests returns the requests of the app in dir, from project.toml and from build variables. An incomplete
// request and an undecodable file are errors.
func readRequests(dir string) ([]Request, error) {
	requests, err := readFile(dir)
	if err != nil {
		return nil, err
	}
	for i, request := range requests {
		requests[i].Layer = layerOf(request.Repo)
		// A destination is within the layer, with or without a leading slash.
		requests[i].Destination = strings.TrimLeft(request.Destination, "/")
	}
	request, ok, err := readVariables()
	if err != nil {
		return nil, err
	}
	if ok {
		requests = append(requests, request)
	}
	for _, request := range requests {
		if err := request.check(); err != nil {
			return nil, err
		}
	}
	return requests, nil
}

// readFile returns the assets in the file of the app in dir, which need not exist unless chosen by the user.
func readFile(dir string) ([]Request, error) {
	name, chosen := os.LookupEnv(pathEnv)
	name = strings.TrimLeft(name, "/") // within the app, with or without a leading slash
	source := "$" + pathEnv
	if name == "" {
		name, source, chosen = projectFile, projectFile, false
	}
	text, err := readBounded(dir, name)
	if errors.Is(err, errNoFile) && !chosen {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", source, err)
	}
	requests, err := decode(text)
	if err != nil {
		return nil, fmt.Errorf("reading the GitHub assets in %s: %w", name, err)
	}
	if chosen && len(requests) == 0 {
		return nil, fmt.Errorf("reading %s: %q has no [[metadata.%s]]", source, name, tableName)
	}
	return requests, nil
}

// mention matches attempts at the name of the tables.
var mention = lazyregexp.New(`(?i)git-?_?hub-?_?assets?`)

// decode returns the assets in the text of a project.toml. A text that is no TOML and does not mention assets is left
// to other readers of the file.
func decode(text []byte) ([]Request, error) {
	var project struct {
		Metadata struct {
			Assets []Request `toml:"githubassets"`
		} `toml:"metadata"`
		// Version 0.2 of project.toml has its metadata here.
		Underscore struct {
			Metadata struct {
				Assets []Request `toml:"githubassets"`
			} `toml:"metadata"`
		} `toml:"_"`
	}
	keys, err := untrusted.DecodeTOML(text, &project)
	switch {
	case err != nil && isUTF16(text):
		return nil, errors.New("it is not UTF-8, as TOML must be (save it as UTF-8)")
	case err != nil && mention.Match(text):
		return nil, explainDecoding(text, err)
	}
	if err != nil {
		return nil, nil //nolint:nilerr // it is a matter of those whom the file concerns
	}
	for _, key := range keys.Undecoded() {
		if err := checkKey(key); err != nil {
			return nil, err
		}
	}
	requests := slices.Concat(project.Metadata.Assets, project.Underscore.Metadata.Assets)
	for _, request := range requests {
		if request.Layer != "" {
			return nil, checkKey(toml.Key{"metadata", tableName, "layer"}) // it belongs to the build plan
		}
	}
	return requests, nil
}

// isUTF16 reports whether a text is UTF-16, with a zero byte in each ASCII character.
func isUTF16(text []byte) bool { return bytes.IndexByte(text, 0) >= 0 }

// explainDecoding returns the decoder's error, or advice if the assets are not an array of tables.
func explainDecoding(text []byte, err error) error {
	var generic map[string]any
	keys, again := untrusted.DecodeTOML(text, &generic)
	if again != nil {
		return err
	}
	for _, path := range [][]string{{"metadata", tableName}, {"_", "metadata", tableName}} {
		if keys.IsDefined(path...) && keys.Type(path...) != "ArrayHash" && keys.Type(path...) != "Array" {
			name := strings.Join(path, ".")
			return fmt.Errorf("%s is not an array of tables (write [[%s]], with two brackets, before each asset)",
				name, name)
		}
	}
	return err
}

var requestKeys = []string{"repo", "asset", "tag", "sha256", "token_env", "destination", "strip_components"}

// checkKey returns an error for an unread key that was meant for an asset: an unknown key of an asset, or a table with
// almost the name of the assets' tables.
func checkKey(key toml.Key) error {
	path := []string(key)
	if len(path) > 0 && path[0] == "_" {
		path = path[1:]
	}
	if len(path) > 2 && path[0] == "metadata" && strings.EqualFold(path[1], tableName) {
		return fmt.Errorf("the key %q is not known (the nearest is %q; there are %s)", path[2],
			nearest.Name(path[2], requestKeys), strings.Join(requestKeys, ", "))
	}
	for _, part := range path[:min(len(path), 2)] {
		plain := strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(part))
		if nearest.Distance(plain, tableName) <= 2 {
			return fmt.Errorf("the table %q is not known (the nearest is [[metadata.%s]])", key.String(), tableName)
		}
	}
	return nil
}

// errNoFile says that no file has the name, or that a directory has the name, which cannot hold a setting.
var errNoFile = errors.New("there is no such file")

// readBounded reads a file of the app. A link that leads out of the app or to nothing is an error.
func readBounded(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("finding %q in the app: %w", name, errNoFile)
	}
	switch info, err := root.Stat(name); {
	case err != nil:
		return nil, fmt.Errorf("following %q: %w", name, err)
	case info.IsDir():
		return nil, fmt.Errorf("reading the directory %q: %w", name, errNoFile)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is not a regular file", name)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("%q is longer than %d KiB", name, maxFile>>10)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxFile))
}
