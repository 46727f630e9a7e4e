package detect

import (
	"regexp"
	"strings"
)

var (
	pythonDef     = regexp.MustCompile(`(?m)^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*\(`)
	pythonDefault = regexp.MustCompile(`(\w+)[ \t]*(?::[ \t]*[\w.]+)?[ \t]*=[ \t]*([^,\s]+)`)
	pythonAnyCall = regexp.MustCompile(`\b(\w+)[ \t]*\([ \t]*(\)?)`)
)

// pythonDefaults adds the parameters that have their defaults: those of functions that the source calls, and never with
// an argument.
func pythonDefaults(s *source, names map[string]string) {
	plain, all := map[string]int{}, map[string]int{}
	for _, call := range pythonAnyCall.FindAllSubmatch(s.code, -1) {
		all[string(call[1])]++
		plain[string(call[1])] += len(call[2])
	}
	for _, m := range pythonDef.FindAllSubmatchIndex(s.code, -1) {
		function := string(s.code[m[2]:m[3]])
		if plain[function] == 0 || plain[function] < all[function]-1 { // its definition counts as a call with arguments
			continue
		}
		for _, d := range pythonDefault.FindAllSubmatchIndex(s.code[m[1]:pythonClosing(s.code, m[1])], -1) {
			name := string(s.code[m[1]+d[2] : m[1]+d[3]])
			if _, again := names[name]; again {
				names[name] = ""
				continue
			}
			names[name] = string(s.text[m[1]+d[4] : m[1]+d[5]])
		}
	}
}

var (
	pythonParsed   = regexp.MustCompile(`(?m)^[ \t]*(\w+)[ \t]*=[ \t]*\w+\.parse_args\(`)
	pythonOption   = regexp.MustCompile(`\.add_argument[ \t]*\(`)
	pythonLongName = regexp.MustCompile(`^["']--([\w-]+)["']$`)
)

// pythonOptions adds the options of an argparse parser, by their defaults, as the names that they are read by:
// args.port of --port.
func pythonOptions(s *source, names map[string]string) {
	parsed := pythonParsed.FindSubmatch(s.code)
	if parsed == nil {
		return
	}
	for _, at := range pythonOption.FindAllIndex(s.code, -1) {
		for _, argument := range s.arguments(at[1]) {
			if m := pythonLongName.FindSubmatch(s.text[argument.from:argument.to]); m != nil {
				name := string(parsed[1]) + "." + strings.ReplaceAll(string(m[1]), "-", "_")
				names[name] = s.argument(at[1], -1, "default")
				break
			}
		}
	}
}
