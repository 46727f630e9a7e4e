package detect

import (
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/appyaml"
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

// goSettingsPorts are the addresses of a gRPC server: go-zero's, and kratos', as their tools write them.
var goSettingsPorts = []string{"ListenOn", "server.grpc.addr"}

var goSettingsWords = lookFor("ListenOn", "grpc")

// goSettingsPort returns the port that settings name, nil where they name none.
func goSettingsPort(text []byte) (*sheet, error) {
	if !goSettingsWords.in(text) {
		return nil, nil
	}
	documents, err := appyaml.Read(text)
	for _, document := range documents {
		for _, key := range goSettingsPorts {
			if address, ok := document.Get(key); ok {
				return &sheet{signs: []sign{{kind: listens, port: statedPort(address.Value)}}}, err
			}
		}
	}
	return nil, err
}
