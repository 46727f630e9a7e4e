package tree

import "strings"

// isThirdParty reports whether a directory holds files that are not the app's own, in any language: hidden directories
// of version control and of tools' caches, and dependencies that package managers copy. A Java package may be called
// vendor.
func isThirdParty(parent, name string) bool {
	if name == "vendor" {
		return !strings.Contains("/"+parent+"/", "/src/main/")
	}
	isHidden := strings.HasPrefix(name, ".") && name != roadRunner
	return isHidden || thirdParty[name]
}

// roadRunner is a hidden folder with settings of the app's own: a .rr.yaml includes the settings.
const roadRunner = ".rr"

// thirdParty are names of directories without code of the app's own, beside vendor (Go, PHP, Ruby) and hidden
// directories.
var thirdParty = map[string]bool{
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
