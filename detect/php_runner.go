package detect

import (
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/appyaml"
)

var phpRunnerDefault = regexp.MustCompile(`\$\{\w+:-([^{}]*)\}`)

// phpRunner takes RoadRunner's section grpc. Workers in the section are its first version's, which registers no health
// service.
func phpRunner(text []byte) ([]sign, error) {
	documents, err := appyaml.Read(text)
	if err != nil || len(documents) == 0 {
		return nil, err
	}
	section, _ := documents[0].Get("grpc")
	listen, ok := documents[0].Get("grpc.listen")
	if !ok || listen.Value == "" {
		return nil, nil
	}
	_, workers := documents[0].Get("grpc.workers")
	address := phpRunnerDefault.ReplaceAllString(listen.Value, "$1")
	return []sign{
		{kind: constructs, framework: "roadrunner", automatic: !workers, line: section.Line, what: "grpc: listen: " + address},
		{kind: listens, port: statedPort(strings.TrimPrefix(address, "tcp://"))},
	}, nil
}
