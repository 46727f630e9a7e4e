package tree

import "strings"

// isThirdParty reports whether a directory holds what is not the app's own, in any language: version control and caches
// of tools, which are hidden, and dependencies that package managers copy. A Java package may be called vendor.
func isThirdParty(parent, name string) bool {
	if name == "vendor" {
		return !strings.Contains("/"+parent+"/", "/src/main/")
	}
	isHidden := strings.HasPrefix(name, ".") && name != roadRunner
	return isHidden || thirdParty[name]
}

// roadRunner is a hidden folder that has settings of the app's own: those that a .rr.yaml includes.
const roadRunner = ".rr"

// thirdParty are names of directories that hold no code of the app's own, beside vendor (Go, PHP, Ruby) and hidden
// ones.
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
