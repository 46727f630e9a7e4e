package harness

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
)

// order is a group of buildpacks, in the order of their phases.
type order []member

type member struct {
	folder, id, version string
	optional            bool
}

// add appends the buildpack of a folder.
func (o *order) add(folder string, optional bool) error {
	var descriptor struct {
		Buildpack struct{ ID, Version string }
	}
	if _, err := toml.DecodeFile(filepath.Join(folder, "buildpack.toml"), &descriptor); err != nil {
		return fmt.Errorf("reading the buildpack in %q: %w", folder, err)
	}
	*o = append(*o, member{folder, descriptor.Buildpack.ID, descriptor.Buildpack.Version, optional})
	return nil
}

// toml returns the group in the format of order.toml and builder.toml.
func (o order) toml() string {
	var text strings.Builder
	text.WriteString("[[order]]\n")
	for _, m := range o {
		fmt.Fprintf(&text, "[[order.group]]\nid = %q\nversion = %q\noptional = %t\n", m.id, m.version, m.optional)
	}
	return text.String()
}
