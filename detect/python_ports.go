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
	var values valuer
	for _, l := range pythonListeners {
		if !l.needs.Match(s.code) {
			continue
		}
		for _, m := range l.call.FindAllIndex(s.code, -1) {
			argument := s.argument(m[1], l.number, l.names...)
			if argument == "" {
				continue
			}
			if values.names == nil {
				values = pythonDialect.values(s)
				pythonDefaults(s, values.names)
				pythonOptions(s, values.names)
			}
			found = append(found, sign{kind: listens, line: s.line(m[0]), port: statedPort(values.of(argument))})
		}
	}
	return found
}

var pythonDialect = dialect{
	text: []*regexp.Regexp{
		regexp.MustCompile(`^[rbufRBUF]{0,2}"(?P<held>[^"\\\n]*)"$`),
		regexp.MustCompile(`^[rbufRBUF]{0,2}'(?P<held>[^'\\\n]*)'$`),
	},
	hole: regexp.MustCompile(`\{([^{}]*)\}`),
	through: []*regexp.Regexp{
		regexp.MustCompile(`^(?:int|str)\((?P<value>.+)\)$`),
		regexp.MustCompile(`^\((?P<value>[^()]+)\)$`),
		regexp.MustCompile(`^(?:os\.)?(?:environ\.get|getenv)\(\s*[^,()]+,\s*(?:default\s*=\s*)?(?P<value>.+)\)$`),
		regexp.MustCompile(`^(?:os\.)?(?:environ\.get|getenv)\([^,()]+\)\s+or\s+(?P<value>.+)$`),
	},
	template: []*regexp.Regexp{
		regexp.MustCompile(`^["'](?P<template>[^"'\\\n]*)["']\s*%\s*\(?(?P<args>[^()]+?),?\s*\)?$`),
		regexp.MustCompile(`^["'](?P<template>[^"'\\\n]*)["']\s*\.\s*format\s*\((?P<args>[^()]+)\)$`),
	},
	gap:      regexp.MustCompile(`%[sd]|\{\d*\}`),
	joined:   regexp.MustCompile(`^(?P<left>["'][^"']*["'])\s*\+\s*(?P<right>.+)$`),
	assigned: regexp.MustCompile(`(?m)^[ \t]*(?P<name>(?:self\.|cls\.)?[A-Za-z_]\w*)[ \t]*(?::[ \t]*[\w.\[\], ]+)?=[ \t]*(?P<value>[^=\s][^\n]*)$`),
}
