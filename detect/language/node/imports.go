package node

import (
	"maps"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// imports maps the names that a source imports to exports of modules.
type imports map[string]export

// export is a name that a module exports. The name is "" for the module itself and for its default export.
type export struct{ module, name string }

var (
	importDeclaration = lazyregexp.New(
		`\bimport\b(?P<clause>[\w$\s,{}*]+?)from\s*["'](?P<module>[^"'\n]*)["']`)
	// requireCall is an import of CommonJS or TypeScript's `import x = require()`, bare or within the call of a helper
	// that compilers and bundlers add.
	requireCall = lazyregexp.New(`(?P<clause>[\w$]+|\{[^{}]*\})\s*(?::\s*[\w$.]+\s*)?=\s*(?:[\w$.]*\(\s*)?` +
		`(?:await\s+)?(?:require|import|__webpack_require__)\s*\(\s*["'](?P<module>[^"'\n]*)["']\s*\)` +
		`(?:\s*,\s*\d\s*)?\)?(?P<member>(?:\s*\.[\w$]+)?)`)
	// destructuring takes names out of a module: const { Server } = grpc; const Server = grpc.Server.
	destructuring = lazyregexp.New(`(?:(?P<clause>\{[^{}]*\})\s*=\s*(?P<of>[\w$]+)|` +
		`\b(?P<clause>[\w$]+)\s*=\s*(?P<of>[\w$]+)(?P<member>\.[\w$]+))\s*[;,\n]`)
	// moduleVersion is the version in the name of a package: grpc@1.2/sub, @grpc/grpc-js@1.
	moduleVersion = lazyregexp.New(`^((?:@[^/@]+/)?[^/@]+)@[^/]*`)
)

func importsOf(t *source.Text) imports {
	all := imports{}
	for _, pattern := range []*lazyregexp.Regexp{importDeclaration, requireCall, destructuring} {
		if pattern == destructuring && !all.from(grpcModule) {
			break
		}
		for _, m := range t.FindAll(pattern, -1) {
			clause, _ := t.Group(pattern, m, "clause")
			module, _ := t.Group(pattern, m, "module")
			member, _ := t.Group(pattern, m, "member")
			if of, ok := t.Group(pattern, m, "of"); ok {
				if module = all[of].module; module == "" || all[of].name != "" {
					continue
				}
			}
			all.declare(clause, packageName(module), strings.Trim(member, ". \t\r\n"))
		}
	}
	return all
}

// declare adds the names of an import clause: a name, `* as name`, `{ a, b as c, d: e }`, or a name and one of the
// others. member is the only imported export of the module, "" for all.
func (all imports) declare(clause, module, member string) {
	whole, braced, _ := strings.Cut(clause, "{")
	for part := range strings.SplitSeq(whole, ",") {
		if fields := strings.Fields(part); len(fields) > 0 && fields[0] != "type" {
			all[fields[len(fields)-1]] = export{module, withoutDefault(member)}
		}
	}
	for part := range strings.SplitSeq(strings.TrimRight(braced, "} \t\r\n"), ",") {
		fields := strings.Fields(strings.ReplaceAll(part, ":", " "))
		if len(fields) > 0 && fields[0] != "type" {
			name := strings.Trim(withoutDefault(member)+"."+fields[0], ".")
			all[fields[len(fields)-1]] = export{module, withoutDefault(name)}
		}
	}
}

func withoutDefault(name string) string { return strings.TrimSuffix(name, "default") }

// packageName returns the name of a module without the prefixes and versions of Node.js, Deno and bundlers.
func packageName(module string) string {
	if i := strings.LastIndex(module, "node_modules/"); i >= 0 {
		module = module[i+len("node_modules/"):]
	}
	module = strings.TrimPrefix(strings.TrimPrefix(module, "npm:"), "node:")
	return moduleVersion.ReplaceAllString(module, "$1")
}

func (all imports) modules() []string {
	var modules []string
	for _, e := range all {
		modules = append(modules, e.module)
	}
	return modules
}

func (all imports) from(module *lazyregexp.Regexp) bool {
	return slices.ContainsFunc(all.modules(), module.MatchString)
}

// apiRule is a row of the table of exported names whose use is evidence.
type apiRule struct {
	module, name *lazyregexp.Regexp
	// before and after match the code around the use.
	before, after *lazyregexp.Regexp
	proves        finding.Make
}

var (
	anywhere  = lazyregexp.New(``)
	afterNew  = lazyregexp.New(`\bnew\s+\(?\s*$`)
	inExtends = lazyregexp.New(`\bextends\s+$`)
	// isCall may have type arguments, and the closing bracket of (0, module.name)() before the bracket of the call.
	isCall  = lazyregexp.New(`^\s*(?:<[^()]{0,200}>)?\)?\s*\(`)
	members = lazyregexp.New(`^(?:\s*\.\s*[\w$]+)*`)
	space   = lazyregexp.New(`\s+`)
)

const (
	// maxAround is how many bytes are read before a name and behind a name.
	maxAround = 200
	// maxImports is how many imported names are searched for evidence: more than real sources have.
	maxImports = 256
)

// uses returns the findings of the uses of imported names.
func (all imports) uses(t *source.Text) []finding.Finding {
	var found []finding.Finding
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool {
		return !slices.ContainsFunc(apiRules, func(r apiRule) bool { return r.module.MatchString(all[name].module) })
	})
	for _, name := range names[:min(len(names), maxImports)] {
		for at := range t.Words(name) {
			before := t.Code[max(0, at-maxAround):at]
			end := at + len(name)
			member := members.Find(t.Code[end:min(len(t.Code), end+maxAround)])
			end += len(member)
			after := t.Code[end:min(len(t.Code), end+maxAround)]
			path := strings.ReplaceAll(space.ReplaceAllString(string(member), ""), ".default", "")
			e := export{all[name].module, strings.Trim(all[name].name+path, ".")}
			for _, r := range apiRules {
				if r.module.MatchString(e.module) && r.name.MatchString(e.name) &&
					r.before.Match(before) && r.after.Match(after) {
					found = append(found, r.proves(finding.At(t, source.Span{From: at, To: end}), e.name))
					break
				}
			}
		}
	}
	return found
}
