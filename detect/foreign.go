package detect

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// foreign reports whether a folder holds what is not the app's own, in any language: version control and tools' caches
// (hidden folders), and dependencies where package managers copy them. A Java package may be called vendor.
func foreign(parent, name string) bool {
	if name == "vendor" {
		return !strings.Contains("/"+parent+"/", "/src/main/")
	}
	return strings.HasPrefix(name, ".") || foreignFolders[name]
}

// foreignFolders are folders that no app's own code lies in, beside vendor (Go, PHP, Ruby) and hidden ones.
var foreignFolders = map[string]bool{
	"node_modules":     true, // npm, Yarn, pnpm
	"bower_components": true, // Bower
	"jspm_packages":    true, // jspm
	"site-packages":    true, // pip, in a virtual environment
	"dist-packages":    true, // pip on Debian
	"__pycache__":      true, // Python's bytecode
	"__pypackages__":   true, // pdm (PEP 582)
	"Godeps":           true, // godep
	"Pods":             true, // CocoaPods
	"Carthage":         true, // Carthage
	"__MACOSX":         true, // resource forks in archives that macOS makes
}

// inFolder reports whether one of the folders that a file is in has such a name.
func inFolder(p string, names *regexp.Regexp) bool {
	for folder := range strings.SplitSeq(path.Dir(p), "/") {
		if names.MatchString(folder) {
			return true
		}
	}
	return false
}

// inOneOf is inFolder for plain names.
func inOneOf(p string, names []string) bool {
	for folder := range strings.SplitSeq(path.Dir(p), "/") {
		if slices.Contains(names, folder) {
			return true
		}
	}
	return false
}
