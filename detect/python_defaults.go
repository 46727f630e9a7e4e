package detect

import "regexp"

var (
	pythonDef     = regexp.MustCompile(`(?m)^[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)[ \t]*\(`)
	pythonDefault = regexp.MustCompile(`(\w+)[ \t]*(?::[ \t]*[\w.]+)?[ \t]*=[ \t]*([^,\s]+)`)
	pythonAnyCall = regexp.MustCompile(`\b(\w+)[ \t]*\([ \t]*(\)?)`)
)

// pythonDefaults adds the parameters that have their defaults: those of functions that the source calls, and never with
// an argument.
func (v *values) pythonDefaults() {
	plain, all := map[string]int{}, map[string]int{}
	for _, call := range pythonAnyCall.FindAllSubmatch(v.code, -1) {
		all[string(call[1])]++
		plain[string(call[1])] += len(call[2])
	}
	for _, m := range pythonDef.FindAllSubmatchIndex(v.code, -1) {
		function := string(v.code[m[2]:m[3]])
		if plain[function] == 0 || plain[function] < all[function]-1 { // its definition counts as a call with arguments
			continue
		}
		for _, d := range pythonDefault.FindAllSubmatchIndex(v.code[m[1]:pythonClosing(v.code, m[1])], -1) {
			v.declare(string(v.code[m[1]+d[2]:m[1]+d[3]]), span{m[1] + d[4], m[1] + d[5]})
		}
	}
}
