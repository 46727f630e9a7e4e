package detect

import "regexp"

// rubyListener is a call or an assignment that names where a server listens: the address or the port is the first
// argument, or what is assigned.
var rubyListener = regexp.MustCompile(`\.[ \t]*add_http2_port[ \t]*(?:(?P<open>\()|[ \t](?P<bare>[^\n,]*))|` +
	`\b(?:server_binding_url|rpc_host)[ \t]*=[ \t]*(?P<assigned>[^\n]*)`)

// rubyGriffinPort is griffin's setting, in its configure block.
var rubyGriffinPort = regexp.MustCompile(`\b\w+\.port[ \t(]+(?P<assigned>\d+|[A-Z]\w*)`)

func rubyPorts(s *source) []sign {
	v := s.values("\n", rubyDeclared)
	var found []sign
	say := func(at int, e span) {
		found = append(found, sign{kind: listens, line: s.line(at), port: v.port(e)})
	}
	for _, m := range rubyListener.FindAllSubmatchIndex(s.code, maxListens) {
		switch {
		case m[2] >= 0:
			address, _ := s.argument(m[3], 0)
			say(m[0], address)
		case m[4] >= 0:
			say(m[0], span{m[4], m[5]})
		default:
			say(m[0], span{m[6], m[7]})
		}
	}
	if rubyGriffin.Match(s.code) {
		for _, m := range rubyGriffinPort.FindAllSubmatchIndex(s.code, maxListens) {
			say(m[0], span{m[2], m[3]})
		}
	}
	return found
}

var rubyGriffin = regexp.MustCompile(`\bGriffin::Server\b`)

// rubyDeclared takes `PORT = 50051`, `@port ||= 50051`.
var rubyDeclared = regexp.MustCompile(`(?m)^[ \t]*(?P<name>@{0,2}[A-Za-z_]\w*)[ \t]*(?:\|\|)?=[ \t]*`)
