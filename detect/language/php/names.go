package php

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// classNames maps the short names of a file's use statements to full names.
type classNames map[string]string

// useStatement matches `use A\B;`, `use A\B as C;` and `use A\{B, C as D};`.
var useStatement = lazyregexp.New(
	`(?m)^\s*use\s+(?P<name>\\?[\w\\]+)\s*(?:\{(?P<group>[^{}]*)\}|(?:as\s+(?P<alias>\w+))?)\s*;`)

func importedClasses(t *source.Text) classNames {
	names := classNames{}
	for _, m := range t.FindAll(useStatement, -1) {
		name, _ := t.Group(useStatement, m, "name")
		alias, _ := t.Group(useStatement, m, "alias")
		group, isGroup := t.Group(useStatement, m, "group")
		if !isGroup {
			names.add(name, alias)
			continue
		}
		for part := range strings.SplitSeq(group, ",") {
			if fields := strings.Fields(part); len(fields) == 1 || len(fields) == 3 {
				names.add(name+fields[0], strings.Join(fields[min(2, len(fields)):], ""))
			}
		}
	}
	return names
}

func (n classNames) add(name, alias string) {
	name = strings.TrimPrefix(name, `\`)
	if alias == "" {
		alias = name[strings.LastIndex(name, `\`)+1:]
	}
	n[alias] = name
}

// resolve returns the full name of a class. The file's namespace is left out, because no rule is about a class of the
// app.
func (n classNames) resolve(name string) string {
	if full, ok := strings.CutPrefix(name, `\`); ok {
		return full
	}
	first, rest, isQualified := strings.Cut(name, `\`)
	full, ok := n[first]
	if !ok {
		return name
	}
	if isQualified {
		return full + `\` + rest
	}
	return full
}
