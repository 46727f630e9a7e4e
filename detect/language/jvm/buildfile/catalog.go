package buildfile

import (
	"fmt"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// entry is an entry of a catalog: "group:name:version", or a table that has the parts. Its version may be a reference
// to one of the catalog's versions.
type entry struct{ artifact, version string }

// UnmarshalTOML takes what an entry of any type stands for.
func (e *entry) UnmarshalTOML(value any) error {
	if text, ok := value.(string); ok {
		parts := strings.SplitN(text, ":", 3)
		e.artifact = strings.Join(parts[:min(2, len(parts))], ":")
		if len(parts) == 3 {
			e.version = parts[2]
		}
		return nil
	}
	table, _ := value.(map[string]any)
	text := func(key string) string {
		s, _ := table[key].(string)
		return s
	}
	e.version = versionIn(table["version"])
	if m, ok := table["version"].(map[string]any); ok && m["ref"] != nil {
		e.version = "${" + versionIn(m["ref"]) + "}"
	}
	switch {
	case text("id") != "":
		e.artifact = text("id")
	case text("module") != "":
		e.artifact = text("module")
	default:
		e.artifact = text("group") + ":" + text("name")
	}
	return nil
}

// version is a version of a catalog: a text, or a table that bounds it.
type version struct{ text string }

// UnmarshalTOML takes a version of any type.
func (v *version) UnmarshalTOML(value any) error {
	v.text = versionIn(value)
	return nil
}

// versionIn returns the version that a text or a table states, "" for none.
func versionIn(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case map[string]any:
		for _, key := range []string{"strictly", "require", "prefer"} {
			if text, ok := v[key].(string); ok {
				return text
			}
		}
	}
	return ""
}

// ReadCatalog reads a version catalog of Gradle (docs.gradle.org, "Version Catalogs").
func ReadCatalog(text []byte) (File, error) {
	var catalog struct {
		Versions  map[string]version
		Libraries map[string]entry
		Plugins   map[string]entry
		Bundles   map[string][]string
	}
	if _, err := untrusted.DecodeTOML(text, &catalog); err != nil {
		return File{}, fmt.Errorf("leaving out a version catalogue: %w", err)
	}
	artifacts := map[string][]string{}
	f := File{Catalog: artifacts}
	ofCatalog := func(name string) string { return catalog.Versions[name].text }
	for alias, library := range catalog.Libraries {
		artifacts[accessor(alias)] = []string{library.artifact}
		f.SetVersion(library.artifact, Resolve(library.version, ofCatalog))
	}
	for alias, plugin := range catalog.Plugins {
		if id, version, ok := strings.Cut(plugin.artifact, ":"); ok && plugin.version == "" { // a text, "id:version"
			plugin = entry{id, version}
		}
		artifacts["plugins."+accessor(alias)] = []string{plugin.artifact}
		f.SetVersion(plugin.artifact, Resolve(plugin.version, ofCatalog))
	}
	for alias, libraries := range catalog.Bundles {
		alias = "bundles." + accessor(alias)
		for _, library := range libraries {
			artifacts[alias] = append(artifacts[alias], catalog.Libraries[library].artifact)
		}
	}
	return f, nil
}

// accessor returns an alias as scripts write it: grpc.netty for grpc-netty.
func accessor(alias string) string { return strings.NewReplacer("-", ".", "_", ".").Replace(alias) }
