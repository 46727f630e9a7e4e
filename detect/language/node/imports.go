package node

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// bindings are the names that a file's imports declare, and what each stands for.
type bindings map[string]export

// export is a name that a module exports. The name is "" for the module itself and for its default export.
type export struct{ module, name string }

var (
	importDeclaration = regexp.MustCompile(
		`\bimport\b(?P<clause>[\w$\s,{}*]+?)from\s*["'](?P<module>[^"'\n]*)["']`)
	// requireCall is an import of CommonJS, TypeScript's `import x = require()`, and each of them within the call of a
	// helper that compilers and bundlers write around it.
	requireCall = regexp.MustCompile(`(?P<clause>[\w$]+|\{[^{}]*\})\s*(?::\s*[\w$.]+\s*)?=\s*(?:[\w$.]*\(\s*)?` +
		`(?:await\s+)?(?:require|import|__webpack_require__)\s*\(\s*["'](?P<module>[^"'\n]*)["']\s*\)` +
		`(?:\s*,\s*\d\s*)?\)?(?P<member>(?:\.[\w$]+)?)`)
	// destructuring takes names out of a module: const { Server } = grpc; const Server =
	// grpc.Server.
	destructuring = regexp.MustCompile(`(?:(?P<clause>\{[^{}]*\})\s*=\s*(?P<of>[\w$]+)|` +
		`\b(?P<name>[\w$]+)\s*=\s*(?P<from>[\w$]+)\.(?P<member>[\w$]+))\s*[;,\n]`)
)

// importsOf returns the names that the imports of a text declare.
func importsOf(t *source.Text) bindings {
	b := bindings{}
	if bytes.Contains(t.Code, []byte("import")) {
		for _, m := range t.FindAll(importDeclaration, -1) {
			b.declare(group(t, importDeclaration, m, "clause"), group(t, importDeclaration, m, "module"), "")
		}
	}
	if bytes.Contains(t.Code, []byte("require")) || bytes.Contains(t.Code, []byte("import(")) {
		for _, m := range t.FindAll(requireCall, -1) {
			b.declare(group(t, requireCall, m, "clause"), group(t, requireCall, m, "module"),
				group(t, requireCall, m, "member"))
		}
	}
	if b.importFrom(grpcModule) {
		for _, m := range t.FindAll(destructuring, -1) {
			b.destructure(t, m)
		}
	}
	return b
}

// group returns what the named group of a pattern matched: "" where it took no part in the match.
func group(t *source.Text, pattern *regexp.Regexp, match []int, name string) string {
	text, _ := t.Group(pattern, match, name)
	return text
}

// declare adds the names of an import clause: a name, `* as name`, `{ a, b as c, d: e }`, or a name and one of the
// others. member is ".name" where only that export of the module is imported.
func (b bindings) declare(clause, module, member string) {
	module = packageName(module)
	whole, braced, _ := strings.Cut(clause, "{")
	for part := range strings.SplitSeq(whole, ",") {
		if fields := strings.Fields(part); len(fields) > 0 && fields[0] != "type" {
			b[fields[len(fields)-1]] = export{module, withoutDefault(strings.TrimPrefix(member, "."))}
		}
	}
	for part := range strings.SplitSeq(strings.TrimRight(braced, "} \t\r\n"), ",") {
		fields := strings.Fields(strings.ReplaceAll(part, ":", " "))
		if len(fields) > 0 && fields[0] != "type" {
			b[fields[len(fields)-1]] = export{module, withoutDefault(fields[0])}
		}
	}
}

// destructure adds the names that a match of the pattern destructuring takes out of an imported module.
func (b bindings) destructure(t *source.Text, match []int) {
	if of, ok := b[group(t, destructuring, match, "of")]; ok && of.name == "" {
		b.declare(group(t, destructuring, match, "clause"), of.module, "")
	}
	if from, ok := b[group(t, destructuring, match, "from")]; ok && from.name == "" {
		b.declare(group(t, destructuring, match, "name"), from.module, "."+group(t, destructuring, match, "member"))
	}
}

func withoutDefault(name string) string {
	if name == "default" {
		return ""
	}
	return name
}

// version is a package's name with its version: grpc@1.2/sub, @grpc/grpc-js@1.
var version = regexp.MustCompile(`^((?:@[^/@]+/)?[^/@]+)@[^/]*`)

// packageName returns the name of a module without what Node.js, Deno and bundlers write before it and behind it.
func packageName(module string) string {
	if i := strings.LastIndex(module, "node_modules/"); i >= 0 {
		module = module[i+len("node_modules/"):]
	}
	module = strings.TrimPrefix(strings.TrimPrefix(module, "npm:"), "node:")
	return version.ReplaceAllString(module, "$1")
}

// resolve returns the export that a dotted name stands for. Its module is "" where the file does not import the name.
func (b bindings) resolve(dotted string) export {
	first, rest, _ := strings.Cut(dotted, ".")
	known, ok := b[first]
	if !ok {
		return export{}
	}
	return export{known.module, strings.Trim(known.name+"."+strings.TrimPrefix(rest+".", "default."), ".")}
}

// importFrom reports whether one of the names comes from a module that the pattern matches.
func (b bindings) importFrom(module *regexp.Regexp) bool {
	for _, e := range b {
		if module.MatchString(e.module) {
			return true
		}
	}
	return false
}

// modules returns the module of each name.
func (b bindings) modules() []string {
	var all []string
	for _, e := range b {
		all = append(all, e.module)
	}
	return all
}
