package detect

import "regexp"

// rubyListener is a call or an assignment that names where a server listens: the address or the port is the first
// argument, or what is assigned.
var rubyListener = regexp.MustCompile(`\.[ \t]*add_http2_port[ \t]*(?:(?P<open>\()|[ \t](?P<bare>[^\n,]*))|` +
	`\b(?:server_binding_url|rpc_host)[ \t]*=[ \t]*(?P<assigned>[^\n]*)`)

// rubyGriffinPort is griffin's setting, in its configure block.
var rubyGriffinPort = regexp.MustCompile(`\b\w+\.port[ \t(]+(?P<assigned>\d+|[A-Z]\w*)`)

func rubyPorts(s *source) []sign {
	values := rubyDialect.values(s)
	var found []sign
	say := func(at int, expression string) {
		found = append(found, sign{kind: listens, line: s.line(at), port: statedPort(values.of(expression))})
	}
	written := func(from, to int) string {
		e := s.trim(span{from, to}) // a comment at the end is blank
		return string(s.text[e.from:e.to])
	}
	for _, m := range rubyListener.FindAllSubmatchIndex(s.code, -1) {
		switch {
		case m[2] >= 0:
			say(m[0], s.argument(m[3], 0))
		case m[4] >= 0:
			say(m[0], written(m[4], m[5]))
		default:
			say(m[0], written(m[6], m[7]))
		}
	}
	if rubyGriffin.Match(s.code) {
		for _, m := range rubyGriffinPort.FindAllSubmatchIndex(s.code, -1) {
			say(m[0], written(m[2], m[3]))
		}
	}
	return found
}

var rubyGriffin = regexp.MustCompile(`\bGriffin::Server\b`)

var rubyDialect = dialect{
	text: []*regexp.Regexp{
		regexp.MustCompile(`^"(?P<held>(?:[^"\\\n#]|#\{[^{}\n]*\})*)"$`),
		regexp.MustCompile(`^'(?P<held>[^'\\\n]*)'$`),
	},
	hole: regexp.MustCompile(`#\{([^{}]*)\}`),
	through: []*regexp.Regexp{
		regexp.MustCompile(`^(?P<value>.+)\.(?:to_s|to_i|freeze)$`),
		regexp.MustCompile(`^(?:Integer|String)\((?P<value>.+)\)$`),
		regexp.MustCompile(`^\((?P<value>[^()]+)\)$`),
		regexp.MustCompile(`^ENV\.fetch\(\s*[^,()]+,\s*(?P<value>.+)\)$`),
		regexp.MustCompile(`^ENV\.fetch\([^,()]+\)\s*\{\s*(?P<value>[^{}]+)\}$`),
		regexp.MustCompile(`^ENV\[[^\[\]]+\]\s*\|\|=?\s*(?P<value>.+)$`),
	},
	joined:   regexp.MustCompile(`^(?P<left>["'][^"']*["'])\s*\+\s*(?P<right>.+)$`),
	assigned: regexp.MustCompile(`(?m)^[ \t]*(?P<name>@{0,2}[A-Za-z_]\w*)[ \t]*(?:\|\|)?=[ \t]*(?P<value>[^=~>\s][^\n]*)$`),
}
