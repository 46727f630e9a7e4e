package detect

import (
	"path"
	"regexp"
	"strings"
)

// goSettings reports whether a file may be the settings of a framework's server, where the layout that its tool makes has
// them: kratos' configs/config.yaml, go-zero's etc/orders.yaml.
func goSettings(p string) bool {
	if !strings.HasSuffix(p, ".yaml") {
		return false
	}
	folder := path.Base(path.Dir(p))
	return folder == "etc" || folder == "configs"
}

// goSettingsPorts take the address of a gRPC server: go-zero's ListenOn, and kratos' server.grpc.addr, indented as its
// tool does.
var goSettingsPorts = []*regexp.Regexp{
	regexp.MustCompile(`(?m)^ListenOn:[ \t]*["']?([^\s"'#]+)`),
	regexp.MustCompile(`(?m)^server:[ \t]*\n(?:  .*\n)*?  grpc:[ \t]*\n(?:    .*\n)*?    addr:[ \t]*["']?([^\s"'#]+)`),
}

// goSettingsPort returns the port that settings name, nil where they name none.
func goSettingsPort(text []byte) *sheet {
	for _, pattern := range goSettingsPorts {
		if m := pattern.FindSubmatch(text); m != nil {
			return &sheet{signs: []sign{{kind: listens, port: statedPort(string(m[1]))}}}
		}
	}
	return nil
}
