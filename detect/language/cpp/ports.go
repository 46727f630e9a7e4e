package cpp

import (
	"bytes"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

var listens = []analyzer.Listen{
	{Code: lazyregexp.New(`(?:\.|->)\s*AddListeningPort\s*\(`), Argument: 1},
}

// declarations match `#define PORT 50051`, `ABSL_FLAG(uint16_t, port, 50051, "");`, `DEFINE_int32(port, 50051, "");`,
// `int port = 50051;`, `const std::string address("0.0.0.0:50051");` and `stream << "0.0.0.0:" << port;`.
var declarations = []*lazyregexp.Regexp{
	lazyregexp.New(`#[ \t]*define[ \t]+(?P<name>\w+)[ \t]+`),
	lazyregexp.New(`\b(?:ABSL_FLAG\s*\(\s*[\w:]+\s*,|DEFINE_\w+\s*\()\s*(?P<name>\w+)\s*,\s*`),
	lazyregexp.New(`\b(?P<name>\w+)(?:\[\w*\])?\s*=\s*`),
	lazyregexp.New(`[\w>:,]\s+(?P<name>\w+)\s*[({]\s*`),
	lazyregexp.New(`(?m)^[ \t]*(?P<name>\w+)\s*<<\s*`),
}

// given is a variable that a call may set, or the variable for the result of a call.
var given = lazyregexp.New(`[(,]\s*&(?P<name>[a-z_]\w*)\s*[,)]|>>\s*(?P<name>\w+)|` +
	`\b(?:from_chars|SimpleAtoi|try_lexical_convert)\s*\((?:[^;()]|\([^;()]*\))*,\s*(?P<name>\w+)\s*\)|` +
	`\b(?P<name>\w+)\s*=\s*[A-Za-z_]\w*\s*\(`)

// maxGiven bounds the matches of given in a source, and of executable in a CMakeLists.txt.
const maxGiven = 256

func namesIn(t *source.Text) *address.Names {
	names := address.Read(t, ",;\n", declarations...)
	for _, m := range t.FindAll(given, maxGiven) {
		name, _ := t.Group(given, m, "name")
		names.DeclareOption(name, "", source.Span{From: m[1], To: m[1]})
	}
	return names
}

// configSection is the server's section in userver's static config
// (grpc/include/userver/ugrpc/server/server_component.hpp).
const configSection = "components_manager.components.grpc-server."

// analyzeStaticConfig reads the server's section in userver's static config.
func analyzeStaticConfig(text []byte) (*analyzer.Result[extra], error) {
	if !bytes.Contains(text, []byte("grpc-server")) {
		return nil, nil
	}
	documents, err := untrusted.ReadYAML(text)
	for _, document := range documents {
		if found := configured(document); found != nil {
			return &analyzer.Result[extra]{Findings: found}, err
		}
	}
	return nil, err
}

// configured returns the listener and the security of a document. A value that begins with a dollar sign is the name of
// a variable, with an environment variable (#env) and a default (#fallback) beside the value
// (universal/include/userver/yaml_config/yaml_config.hpp).
func configured(document untrusted.Document) []finding.Finding {
	var found []finding.Finding
	socket, isSocket := document.Get(configSection + "unix-socket-path")
	port, isPort := document.Get(configSection + "port")
	isVariable := func(s untrusted.Setting) bool { return strings.HasPrefix(s.Value, "$") }
	switch a := address.Setting(port.Value, port.Line); {
	case isSocket && isVariable(socket):
		found = append(found, finding.Listens(address.Address{Host: address.UnixSocket}, "a variable has the path"))
	case isSocket:
		found = append(found, finding.Listens(address.Setting("unix:"+socket.Value, socket.Line), ""))
	case isPort && isVariable(port):
		if fallback, ok := document.Get(configSection + "port#fallback"); ok {
			a = address.Setting(fallback.Value, fallback.Line)
		}
		env, _ := document.Get(configSection + "port#env")
		found = append(found, finding.Listens(address.ByDefault(a, env.Value), ""))
	case isPort:
		found = append(found, finding.Listens(a, ""))
	}
	if certificate, ok := document.Get(configSection + "tls.cert"); ok {
		found = append(found, finding.UsesTLS(finding.AtLine(certificate.Line, ""), ""))
	}
	return found
}
