package detect

import (
	"bytes"
	"regexp"
	"strings"
)

var (
	phpRunnerGRPC    = regexp.MustCompile(`(?m)^["']?grpc["']?[ \t]*:[ \t]*(?:&\w+[ \t]*)?(?:#.*)?\r?$`)
	phpRunnerNext    = regexp.MustCompile(`(?m)^[^\s#]`)
	phpRunnerListen  = regexp.MustCompile(`(?m)^[ \t]+["']?listen["']?[ \t]*:[ \t]*["']?([^"'\s#]+)`)
	phpRunnerWorkers = regexp.MustCompile(`(?m)^[ \t]+["']?workers["']?[ \t]*:`)
	phpRunnerDefault = regexp.MustCompile(`\$\{\w+:-([^{}]*)\}`)
)

// phpRunner takes RoadRunner's section grpc. Workers in the section are its first version's, which registers no health
// service.
func phpRunner(text []byte) []sign {
	at := phpRunnerGRPC.FindIndex(text)
	if at == nil {
		return nil
	}
	section := text[at[1]:]
	if next := phpRunnerNext.FindIndex(section); next != nil {
		section = section[:next[0]]
	}
	listen := phpRunnerListen.FindSubmatch(section)
	if listen == nil {
		return nil
	}
	address := phpRunnerDefault.ReplaceAllString(string(listen[1]), "$1")
	return []sign{
		{kind: constructs, framework: "roadrunner", automatic: !phpRunnerWorkers.Match(section),
			line: bytes.Count(text[:at[0]], []byte("\n")) + 1, what: "grpc: listen: " + address},
		{kind: listens, port: statedPort(strings.TrimPrefix(address, "tcp://"))},
	}
}
