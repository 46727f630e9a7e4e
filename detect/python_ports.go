package detect

import "regexp"

// pythonListeners are the calls that name where a server listens: the number of the argument with its address or port,
// and its name. Each needs what the source imports, since the calls' own names are anybody's.
var pythonListeners = []struct {
	call   *regexp.Regexp
	needs  *regexp.Regexp
	number int
	names  []string
}{
	{regexp.MustCompile(`\.\s*add_(?:in)?secure_port\s*\(`), regexp.MustCompile(`grpc`), 0, []string{"address"}},
	{regexp.MustCompile(`\.\s*start\s*\(`), regexp.MustCompile(`\bgrpclib\.server\b`), 1, []string{"port"}},
	{regexp.MustCompile(`\bServer\s*\(`), regexp.MustCompile(`\bpurerpc\b`), 0, []string{"port"}},
	{regexp.MustCompile(`\.\s*run\s*\(`), regexp.MustCompile(`\bdapr\.ext\.grpc\b`), 0, []string{"app_port"}},
	{regexp.MustCompile(`\bgRPCOptions\s*\(`), regexp.MustCompile(`\bray\b`), 0, []string{"port"}},
	{regexp.MustCompile(`\bstart_server\s*\(`), regexp.MustCompile(`\bflwr\b`), -1, []string{"server_address"}},
}

// pythonPorts returns the ports that a source's servers listen on.
func pythonPorts(s *source) []sign {
	var found []sign
	var v *values
	for _, l := range pythonListeners {
		if !l.needs.Match(s.code) {
			continue
		}
		for _, m := range l.call.FindAllIndex(s.code, maxListens) {
			address, ok := s.argument(m[1], l.number, l.names...)
			if !ok {
				continue
			}
			if v == nil {
				v = s.values("\n", pythonDeclared...)
				v.pythonDefaults()
			}
			found = append(found, sign{kind: listens, line: s.line(m[0]), port: v.port(address)})
		}
	}
	return found
}

// pythonDeclared takes assignments, and the options of an argparse parser by their defaults: args.port of --port.
var pythonDeclared = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^[ \t]*(?:self\.|cls\.)?(?P<name>[A-Za-z_]\w*)[ \t]*(?::[ \t]*[\w.\[\], ]+)?=[ \t]*`),
	regexp.MustCompile(`\.add_argument[ \t]*\(\s*(?:["'] *["']\s*,\s*)?["'](?P<field> +)["'][^()]*(?:\([^()]*\)[^()]*)*?` +
		`\bdefault\s*=\s*(?P<value>[^,()\n]+(?:\([^()\n]*\))?)`),
}
