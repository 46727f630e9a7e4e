package detect

import (
	"bytes"
	"regexp"
	"strings"
)

// nodeNames are what a file's names stand for, as its imports say.
type nodeNames map[string]nodeName

// nodeName is a name of a module; "" for the module itself, or its default.
type nodeName struct{ module, name string }

var (
	nodeImport = regexp.MustCompile(`\bimport\b(?P<clause>[\w$\s,{}*]+?)from\s*["'](?P<module>[^"'\n]*)["']`)
	// CommonJS, TypeScript's `import x = require()`, and what compilers and bundlers wrap around them.
	nodeRequire = regexp.MustCompile(`(?P<clause>[\w$]+|\{[^{}]*\})\s*(?::\s*[\w$.]+\s*)?=\s*(?:[\w$.]*\(\s*)?(?:await\s+)?` +
		`(?:require|import|__webpack_require__)\s*\(\s*["'](?P<module>[^"'\n]*)["']\s*\)(?:\s*,\s*\d\s*)?\)?(?P<member>(?:\.[\w$]+)?)`)
	// const { Server } = grpc; const Server = grpc.Server;
	nodeTakenOut = regexp.MustCompile(`(?:(?P<clause>\{[^{}]*\})\s*=\s*(?P<of>[\w$]+)|` +
		`\b(?P<name>[\w$]+)\s*=\s*(?P<from>[\w$]+)\.(?P<member>[\w$]+))\s*[;,\n]`)
)

func (s *source) nodeNames() nodeNames {
	names := nodeNames{}
	if bytes.Contains(s.code, []byte("import")) {
		for _, m := range nodeImport.FindAllSubmatchIndex(s.code, -1) {
			names.add(s.part(nodeImport, m, "clause"), s.part(nodeImport, m, "module"), "")
		}
	}
	if bytes.Contains(s.code, []byte("require")) || bytes.Contains(s.code, []byte("import(")) {
		for _, m := range nodeRequire.FindAllSubmatchIndex(s.code, -1) {
			names.add(s.part(nodeRequire, m, "clause"), s.part(nodeRequire, m, "module"), s.part(nodeRequire, m, "member"))
		}
	}
	if names.any(nodeGRPC) {
		for _, m := range nodeTakenOut.FindAllSubmatchIndex(s.code, -1) {
			names.takeOut(s, m)
		}
	}
	return names
}

// part is group without its second answer.
func (s *source) part(pattern *regexp.Regexp, match []int, name string) string {
	text, _ := s.group(pattern, match, name)
	return text
}

func (n nodeNames) takeOut(s *source, m []int) {
	if of, ok := n[s.part(nodeTakenOut, m, "of")]; ok && of.name == "" {
		n.add(s.part(nodeTakenOut, m, "clause"), of.module, "")
	}
	if from, ok := n[s.part(nodeTakenOut, m, "from")]; ok && from.name == "" {
		n.add(s.part(nodeTakenOut, m, "name"), from.module, "."+s.part(nodeTakenOut, m, "member"))
	}
}

// add takes the clause of an import: a name, `* as name`, `{ a, b as c, d: e }`, or a name and one of these.
func (n nodeNames) add(clause, module, member string) {
	module = nodeModule(module)
	whole, braced, _ := strings.Cut(clause, "{")
	for part := range strings.SplitSeq(whole, ",") {
		if fields := strings.Fields(part); len(fields) > 0 && fields[0] != "type" {
			n[fields[len(fields)-1]] = nodeName{module, nodeNotDefault(strings.TrimPrefix(member, "."))}
		}
	}
	for part := range strings.SplitSeq(strings.TrimRight(braced, "} \t\r\n"), ",") {
		fields := strings.Fields(strings.ReplaceAll(part, ":", " "))
		if len(fields) > 0 && fields[0] != "type" {
			n[fields[len(fields)-1]] = nodeName{module, nodeNotDefault(fields[0])}
		}
	}
}

func nodeNotDefault(name string) string {
	if name == "default" {
		return ""
	}
	return name
}

var nodeVersion = regexp.MustCompile(`^((?:@[^/@]+/)?[^/@]+)@[^/]*`)

// nodeModule returns a module's name without what Node.js, Deno and bundlers put before and behind it.
func nodeModule(module string) string {
	if i := strings.LastIndex(module, "node_modules/"); i >= 0 {
		module = module[i+len("node_modules/"):]
	}
	module = strings.TrimPrefix(strings.TrimPrefix(module, "npm:"), "node:")
	return nodeVersion.ReplaceAllString(module, "$1")
}

// resolve returns the module and the name in it that a dotted name stands for; "" where the file does not say.
func (n nodeNames) resolve(dotted string) (module, name string) {
	first, rest, _ := strings.Cut(dotted, ".")
	known, ok := n[first]
	if !ok {
		return "", ""
	}
	return known.module, strings.Trim(known.name+"."+strings.TrimPrefix(rest+".", "default."), ".")
}

// any reports whether the file imports from a module that fits.
func (n nodeNames) any(pattern *regexp.Regexp) bool {
	for _, name := range n {
		if pattern.MatchString(name.module) {
			return true
		}
	}
	return false
}
