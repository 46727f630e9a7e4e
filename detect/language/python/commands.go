package python

import (
	"bytes"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// djangoCommand starts a server of Django's gRPC frameworks on an address or a port: grpcrunserver --dev 0.0.0.0:9000
// (management/commands/grpcrunserver.py of both).
var djangoCommand = lazyregexp.New(`\bgrpcrun(?:aio)?server(?:[ \t]+(?:-\S+|\d{1,3}))*[ \t]+` +
	`["']?((?:[\w.\[\]:]*:)?\d{4,5}\b|\S*\$\S+)`)

// analyzeCommands returns the addresses that the command lines of a Procfile or of a shell script give to servers. The
// default of the framework does not hold then.
func analyzeCommands(f *tree.File) (*analyzer.Result[extra], error) {
	text, err := f.Text()
	if err != nil {
		return nil, err
	}
	var result analyzer.Result[extra]
	for _, m := range djangoCommand.FindAllSubmatchIndex(text, address.MaxListeners) {
		line := 1 + bytes.Count(text[:m[0]], []byte("\n"))
		v := address.Setting(string(text[m[2]:m[3]]), line)
		result.Findings = append(result.Findings, finding.ListenerAt(v))
	}
	return &result, nil
}
