package buildfile

import (
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// maxReferences is how many references are followed from one version to the next.
const maxReferences = 4

// reference is a version that is a property: ${grpc.version}, $grpcVersion, ${property("grpcVersion")},
// ${rootProject.ext.grpcVersion}.
var reference = lazyregexp.New(
	`^\$\{?(?:\w+\(["']|\w+\[["']|(?:rootProject|project|ext|extra|Versions)\.)*([\w.-]+)["')\]]*\}?$`)

// Resolve returns the version that a version with references to properties stands for. property returns the value of
// a property, "" for one that is not known. The result is "" if the version is not known.
func Resolve(version string, property func(name string) string) string {
	for range maxReferences {
		m := reference.FindStringSubmatch(version)
		if m == nil {
			return version
		}
		version = property(m[1])
	}
	return ""
}

// leadingNumbers are the first two numbers of a version.
var leadingNumbers = lazyregexp.New(`^v?(\d{1,6})(?:\.(\d{1,6}))?`)

// Compare compares the first two numbers of a version, of any form, with those given: it returns a number below zero
// for an older version, and zero or above for the same one or a newer one. ok is false if the version has no
// numbers.
func Compare(version string, major, minor int) (order int, ok bool) {
	m := leadingNumbers.FindStringSubmatch(version)
	if m == nil {
		return 0, false
	}
	first, _ := strconv.Atoi(m[1])
	second, _ := strconv.Atoi(m[2])
	if first != major {
		return first - major, true
	}
	return second - minor, true
}

// SetVersion keeps the version of an artifact or a plugin, unless it is "".
func (f *File) SetVersion(artifact, version string) {
	if version == "" {
		return
	}
	if f.Versions == nil {
		f.Versions = map[string]string{}
	}
	f.Versions[artifact] = version
}

func (f *File) setProperty(name, value string) {
	if f.Properties == nil {
		f.Properties = map[string]string{}
	}
	f.Properties[name] = value
}

func (f *File) exclude(dependency, excluded string) {
	if f.Excluded == nil {
		f.Excluded = map[string][]string{}
	}
	f.Excluded[dependency] = append(f.Excluded[dependency], excluded)
}

var propertyLine = lazyregexp.New(`^\s*([\w.-]+)\s*[=:]\s*([\w.+-]+)\s*$`)

// ReadProperties reads gradle.properties, whose values are properties of all projects of a build.
func ReadProperties(text []byte) File {
	var f File
	for line := range strings.Lines(string(source.TrimBOM(text))) {
		if m := propertyLine.FindStringSubmatch(line); m != nil {
			f.setProperty(m[1], m[2])
		}
	}
	return f
}
