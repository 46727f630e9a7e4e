package cpp

import (
	"bytes"
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// declarations match `#define PORT 50051`, `ABSL_FLAG(uint16_t, port, 50051, "");`, `DEFINE_int32(port, 50051, "");`,
// `int port = 50051;` and `const std::string address("0.0.0.0:50051");`.
var declarations = []*regexp.Regexp{
	regexp.MustCompile(`#[ \t]*define[ \t]+(?P<name>\w+)[ \t]+`),
	regexp.MustCompile(`\b(?:ABSL_FLAG\s*\(\s*[\w:]+\s*,|DEFINE_\w+\s*\()\s*(?P<name>\w+)\s*,\s*`),
	regexp.MustCompile(`\b(?P<name>\w+)(?:\[\w*\])?\s*=\s*`),
	regexp.MustCompile(`[\w>:,]\s+(?P<name>\w+)\s*[({]\s*`),
}

var addListeningPort = regexp.MustCompile(`(?:\.|->)\s*AddListeningPort\s*\(`)

// listeners returns the address of each call of AddListeningPort.
func listeners(names *address.Names) []finding.Finding {
	var found []finding.Finding
	for _, m := range names.FindAll(addListeningPort, address.MaxListeners) {
		if arguments, _ := names.Arguments(m[1]); len(arguments) > 1 {
			found = append(found, finding.ListenerAt(names.Value(arguments[0])))
		}
	}
	return found
}

// analyzeStaticConfig returns the address of the server's section in userver's static config.
func analyzeStaticConfig(text []byte) (*analyzer.Result[extra], error) {
	if !bytes.Contains(text, []byte("grpc-server")) {
		return nil, nil
	}
	documents, err := untrusted.ReadYAML(text)
	for _, document := range documents {
		if port, ok := document.Get("components_manager.components.grpc-server.port"); ok {
			listener := finding.ListenerAt(address.Setting(port.Value, port.Line))
			return &analyzer.Result[extra]{Findings: []finding.Finding{listener}}, err
		}
	}
	return nil, err
}
