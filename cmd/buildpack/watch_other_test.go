//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

// removesFirst needs inotify, which only Linux has. Scripts stop before they call it elsewhere.
func removesFirst(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Fatalf("removesfirst needs Linux")
}
