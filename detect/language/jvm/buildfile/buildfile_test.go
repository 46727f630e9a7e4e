package buildfile_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/language/jvm/buildfile"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// An artifact of a catalog is a text or a table, and so is its version.
func TestReadCatalog(t *testing.T) {
	t.Parallel()
	f, err := buildfile.Read("a.versions.toml", []byte("[versions]\ngrpc = '1.0'\n[libraries]\n"+
		"a-b = 'g:a:2.0'\nc = 'g:c'\n"+
		"d = {module = 'g:d', version.ref = 'grpc'}\ne = {group = 'g', name = 'e', version = {strictly = '3.0'}}\n"+
		"[plugins]\np = 'g.p:4.0'\nq = {id = 'g.q', version.ref = 'grpc'}\n[bundles]\nall = ['a-b', 'd']\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := (map[string][]string{
		"a.b": {"g:a"}, "c": {"g:c"}, "d": {"g:d"}, "e": {"g:e"}, "plugins.p": {"g.p"}, "plugins.q": {"g.q"},
		"bundles.all": {"g:a", "g:d"},
	}); !reflect.DeepEqual(f.Catalog, want) {
		t.Errorf("the artifacts are %v, want %v", f.Catalog, want)
	}
	want := map[string]string{"grpc": "1.0", "g:a": "2.0", "g:e": "3.0", "g.p": "4.0"}
	if !maps.Equal(f.Versions, want) {
		t.Errorf("the versions are %v, want %v", f.Versions, want)
	}
	if _, err := buildfile.Read("a.versions.toml", []byte("[libraries"), nil); err == nil {
		t.Error("no TOML is read")
	}
}

// A script declares artifacts as one text or part by part.
func TestReadGradle(t *testing.T) {
	t.Parallel()
	const raw = "implementation 'g:a:1.0'\nimplementation group: 'g', name: 'b', version: '1.0'\n" +
		"testImplementation 'g:c:1.0'\nimplementation('g:d') { exclude group: 'g', module: 'e' }\n"
	grammar := source.Grammar{source.String("'", "'", source.Quoting{})}
	f, _ := buildfile.Read("app/build.gradle", []byte(raw), grammar)
	want := []string{"g:a", "g:b", "g:d"}
	if !slices.Equal(f.Artifacts, want) || f.Versions["g:a"] != "1.0" || !f.Root {
		t.Errorf("read is %+v, want the artifacts %v", f, want)
	}
	if want := []string{"e"}; !slices.Equal(f.Excluded, want) {
		t.Errorf("left out are %v, want %v", f.Excluded, want)
	}
}

// A pom.xml may have any encoding whose names are ASCII, and a file that is no XML is still the root of a project.
func TestReadPOM(t *testing.T) {
	t.Parallel()
	f, err := buildfile.Read("pom.xml", []byte("<?xml version='1.0' encoding='ISO-8859-1'?><project>"+
		"<artifactId>a</artifactId><name>\xfc</name><dependencies><dependency><groupId>g</groupId>"+
		"<artifactId>b</artifactId></dependency></dependencies></project>"), nil)
	if err != nil || !f.Root || f.Name != "a" || !slices.Equal(f.Artifacts, []string{"g:b"}) {
		t.Errorf("read is %+v, %v", f, err)
	}
	if f, err := buildfile.Read("pom.xml", []byte("project = a"), nil); err == nil || !f.Root {
		t.Errorf("of no XML, read is %+v, %v", f, err)
	}
}
