package ecmascript

import (
	"bytes"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Imports are the names that a file's imports declare, and what each stands for.
type Imports map[string]Export

// Export is a name that a module exports. The name is "" for the module itself and for its default export.
type Export struct{ Module, Name string }

var (
	importDeclaration = lazyregexp.New(
		`\bimport\b(?P<clause>[\w$\s,{}*]+?)from\s*["'](?P<module>[^"'\n]*)["']`)
	// requireCall is an import of CommonJS, TypeScript's `import x = require()`, and each of them within the call of a
	// helper that compilers and bundlers write around it.
	requireCall = lazyregexp.New(`(?P<clause>[\w$]+|\{[^{}]*\})\s*(?::\s*[\w$.]+\s*)?=\s*(?:[\w$.]*\(\s*)?` +
		`(?:await\s+)?(?:require|import|__webpack_require__)\s*\(\s*["'](?P<module>[^"'\n]*)["']\s*\)` +
		`(?:\s*,\s*\d\s*)?\)?(?P<member>(?:\s*\.[\w$]+)?)`)
	// destructuring takes names out of a module: const { Server } = grpc; const Server =
	// grpc.Server.
	destructuring = lazyregexp.New(`(?:(?P<clause>\{[^{}]*\})\s*=\s*(?P<of>[\w$]+)|` +
		`\b(?P<name>[\w$]+)\s*=\s*(?P<from>[\w$]+)\.(?P<member>[\w$]+))\s*[;,\n]`)
)

// importsOf returns the names that the imports of a source declare. Names are also taken out of the modules that one
// pattern matches.
func importsOf(s *Source, destructured *lazyregexp.Regexp) Imports {
	b := Imports{}
	if bytes.Contains(s.Code, []byte("import")) {
		for _, m := range s.FindAll(importDeclaration, -1) {
			b.declare(s.Part(importDeclaration, m, "clause"), s.Part(importDeclaration, m, "module"), "")
		}
	}
	if bytes.Contains(s.Code, []byte("require")) || bytes.Contains(s.Code, []byte("import(")) {
		for _, m := range s.FindAll(requireCall, -1) {
			module, member := s.Part(requireCall, m, "module"), strings.TrimSpace(s.Part(requireCall, m, "member"))
			b.declare(s.Part(requireCall, m, "clause"), module, member)
		}
	}
	if !b.From(destructured) {
		return b
	}
	for _, m := range s.FindAll(destructuring, -1) {
		if of, ok := b[s.Part(destructuring, m, "of")]; ok && of.Name == "" {
			b.declare(s.Part(destructuring, m, "clause"), of.Module, "")
		}
		if of, ok := b[s.Part(destructuring, m, "from")]; ok && of.Name == "" {
			b.declare(s.Part(destructuring, m, "name"), of.Module, "."+s.Part(destructuring, m, "member"))
		}
	}
	return b
}

// declare adds the names of an import clause: a name, `* as name`, `{ a, b as c, d: e }`, or a name and one of the
// others. member is ".name" if only that export of the module is imported.
func (b Imports) declare(clause, module, member string) {
	module = packageName(module)
	whole, braced, _ := strings.Cut(clause, "{")
	for part := range strings.SplitSeq(whole, ",") {
		if fields := strings.Fields(part); len(fields) > 0 && fields[0] != "type" {
			b[fields[len(fields)-1]] = Export{module, withoutDefault(strings.TrimPrefix(member, "."))}
		}
	}
	for part := range strings.SplitSeq(strings.TrimRight(braced, "} \t\r\n"), ",") {
		fields := strings.Fields(strings.ReplaceAll(part, ":", " "))
		if len(fields) > 0 && fields[0] != "type" {
			name := strings.Trim(withoutDefault(strings.Trim(member, "."))+"."+fields[0], ".")
			b[fields[len(fields)-1]] = Export{module, withoutDefault(name)}
		}
	}
}

func withoutDefault(name string) string {
	if name == "default" {
		return ""
	}
	return name
}

// version is a package's name with its version: grpc@1.2/sub, @grpc/grpc-js@1.
var version = lazyregexp.New(`^((?:@[^/@]+/)?[^/@]+)@[^/]*`)

// packageName returns the name of a module without what Node.js, Deno and bundlers write before it and after it.
func packageName(module string) string {
	if i := strings.LastIndex(module, "node_modules/"); i >= 0 {
		module = module[i+len("node_modules/"):]
	}
	module = strings.TrimPrefix(strings.TrimPrefix(module, "npm:"), "node:")
	if module == "." {
		return "./"
	}
	return version.ReplaceAllString(module, "$1")
}

// Resolve returns the export that a dotted name stands for. Its module is "" if the file does not import the name.
func (b Imports) Resolve(dotted string) Export {
	first, rest, _ := strings.Cut(dotted, ".")
	known, ok := b[first]
	if !ok {
		return Export{}
	}
	return Export{known.Module, strings.Trim(known.Name+"."+strings.TrimPrefix(rest+".", "default."), ".")}
}

// From reports whether one of the names comes from a module that the pattern matches.
func (b Imports) From(module *lazyregexp.Regexp) bool {
	for _, e := range b {
		if module.MatchString(e.Module) {
			return true
		}
	}
	return false
}

// Modules returns the module of each name.
func (b Imports) Modules() []string {
	var all []string
	for _, e := range b {
		all = append(all, e.Module)
	}
	return all
}
