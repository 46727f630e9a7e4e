package jvm

import (
	"maps"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/language/jvm/buildfile"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// versions are what build files state about versions, and what they leave out.
type versions struct {
	of         map[string]string // by artifact, as the file writes it
	properties map[string]string
	excluded   map[string][]string
}

// decidingVersion is an artifact whose version decides whether a framework registers grpc.health.v1.
var decidingVersion = lazyregexp.New(`^(?:org\.springframework\.(?:grpc|boot)|io\.micronaut|net\.devh|` +
	`io\.github\.lognet|org\.lognet|micronaut-grpc|grpc-(?:server-)?spring-boot)\b`)

// add adds what a build file states. What is there has precedence.
func (v *versions) add(f buildfile.File) {
	if v.of == nil {
		v.of, v.properties, v.excluded = map[string]string{}, map[string]string{}, map[string][]string{}
	}
	for artifact, text := range f.Versions {
		if _, ok := v.of[artifact]; !ok && decidingVersion.MatchString(artifact) {
			v.of[artifact] = text
		}
	}
	for name, value := range f.Properties {
		if _, ok := v.properties[name]; !ok {
			v.properties[name] = value
		}
	}
	for dependency, excluded := range f.Excluded {
		v.excluded[dependency] = append(v.excluded[dependency], excluded...)
	}
}

// maxAround is how many other builds say something about one.
const maxAround = 64

// addAround adds a build that is built with this one, and those above it.
func (b *build) addAround(user *build) {
	if len(b.around) < maxAround {
		b.around = append(append(b.around, user), user.around...)
	}
}

// chain returns the builds that say something about the versions of this one, the nearest first.
func (b *build) chain() []*build { return append([]*build{b}, b.around...) }

// version returns the version of the first artifact that matches and whose version is known; "" for none.
func (b *build) version(artifact *lazyregexp.Regexp) string {
	for _, in := range b.chain() {
		for _, name := range slices.Sorted(maps.Keys(in.declared.of)) {
			if !artifact.MatchString(name) {
				continue
			}
			if v := buildfile.Resolve(in.declared.of[name], b.property); v != "" {
				return v
			}
		}
	}
	return ""
}

// property returns the value of a property of the build, "" for one that is not known.
func (b *build) property(name string) string {
	for _, in := range b.chain() {
		if value := in.declared.properties[name]; value != "" {
			return value
		}
	}
	return ""
}

// leavesOut reports whether the build leaves a library out of what a starter brings with it.
func (b *build) leavesOut(library, starter *lazyregexp.Regexp) bool {
	for _, in := range b.chain() {
		for dependency, excluded := range in.declared.excluded {
			if dependency != "" && !starter.MatchString(dependency) {
				continue
			}
			if slices.Contains(excluded, "*:*") || slices.ContainsFunc(excluded, library.MatchString) {
				return true
			}
		}
	}
	return false
}

// isOlder reports whether the version of an artifact is known and is older than another one. isKnown is false if it
// is not known.
func (b *build) isOlder(artifact *lazyregexp.Regexp, major, minor int) (isOlder, isKnown bool) {
	order, ok := buildfile.Compare(b.version(artifact), major, minor)
	return order < 0, ok
}
