package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// entry is a version of a buildpack in the index of the buildpack registry, a line of JSON (RFC 0022 of the CNB
// project).
type entry struct {
	Namespace string `json:"ns"`
	Name      string `json:"name"`
	Version   string `json:"version"`
	Yanked    bool   `json:"yanked"`
	Address   string `json:"addr"`
}

// writeEntry prints the entry for an image, NAME:VERSION@DIGEST, or adds it to the index in a folder.
func writeEntry(id, image, index string, out io.Writer) error {
	entry, err := newEntry(id, image)
	if err != nil {
		return err
	}
	line, err := json.Marshal(entry)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if index == "" {
		_, err := out.Write(line)
		return err
	}
	path := filepath.Join(index, indexFolder(entry.Name), entry.Namespace+"_"+entry.Name)
	there, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	add, err := entry.isNew(there, line)
	if err != nil {
		return fmt.Errorf("adding to %q: %w", path, err)
	}
	if !add {
		fmt.Fprintf(out, "%s has %s@%s already\n", path, id, entry.Version)
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path, append(there, line...), 0o644); err != nil {
		return err
	}
	fmt.Fprintf(out, "added %s@%s to %s\n", id, entry.Version, path)
	return nil
}

func newEntry(id, image string) (entry, error) {
	namespace, short, ok := strings.Cut(id, "/")
	if !ok || strings.Contains(short, "/") {
		return entry{}, fmt.Errorf("reading the buildpack's ID %q: it has to be NAMESPACE/NAME", id)
	}
	tagged, digest, ok := strings.Cut(image, "@")
	tag, err := name.NewTag(tagged, name.StrictValidation)
	if err == nil && !ok {
		err = errors.New("it has no digest")
	}
	if err == nil {
		_, err = name.NewDigest(tag.Repository.String() + "@" + digest)
	}
	if err == nil {
		err = checkVersion(tag.TagStr())
	}
	if err != nil {
		return entry{}, fmt.Errorf("reading the image %q: %w: it has to be NAME:VERSION@DIGEST, as "+
			"scripts/publish.sh writes it", image, err)
	}
	return entry{namespace, short, tag.TagStr(), false, tag.Repository.String() + "@" + digest}, nil
}

// indexFolder is where the index has a name: folders keep it from getting too large (RFC 0022, index structure).
func indexFolder(name string) string {
	switch len(name) {
	case 1, 2:
		return fmt.Sprint(len(name))
	case 3:
		return filepath.Join("3", name[:2])
	}
	return filepath.Join(name[:2], name[2:4])
}

// isNew reports whether the version has no entry yet among the lines of a file. An entry cannot be changed.
func (e entry) isNew(lines, line []byte) (bool, error) {
	for have := range bytes.Lines(lines) {
		var other entry
		if err := json.Unmarshal(have, &other); err != nil {
			return false, fmt.Errorf("reading the entry %q: %w", have, err)
		}
		if other.Version != e.Version {
			continue
		}
		if bytes.Equal(bytes.TrimSpace(have), bytes.TrimSpace(line)) {
			return false, nil
		}
		return false, fmt.Errorf("version %s is there with another image, %q: raise the version in buildpack.toml",
			e.Version, other.Address)
	}
	return true, nil
}
