package golang

import (
	"bytes"
	"path"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// An app of GoFr makes a server of grpc-go for the services that generated code registers with it. That code registers
// the health service, too (health_gofr.go, which its tool generates). The variable GRPC_PORT has the port, which the
// file configs/.env may set. What configs/.local.env sets goes before it, or, if APP_ENV names another environment,
// what the file of that one sets (pkg/gofr/factory.go, pkg/gofr/config/godotenv.go).
const (
	gofrVariable = "GRPC_PORT"
	gofrPort     = 9000 // pkg/gofr/default.go
)

// gofrHealthFile is the generated file that registers the health service.
const gofrHealthFile = "health_gofr.go"

// gofrRegistration is the name of what is generated to register a service.
var gofrRegistration = source.Exactly(`Register\p{Lu}\w*ServerWithGofr`)

// gofrFile is the name of a file with the variables of an app, or of an environment of it.
var gofrFile = source.Exactly(`\.(?:([\w-]+)\.)?env`)

// gofrSetting is the port in such a file.
type gofrSetting struct {
	*finding.Site
	port address.Value
}

// gofrHealth is in the generated code that registers the health service.
const gofrHealth = "RegisterHealthServer("

// analyzeGofrHealth returns the registration in that code.
func analyzeGofrHealth(text []byte) *analyzer.Result[Extra] {
	before, _, ok := bytes.Cut(text, []byte(gofrHealth))
	if !ok {
		return nil
	}
	line := 1 + bytes.Count(before, []byte("\n"))
	return &analyzer.Result[Extra]{Findings: []finding.Finding{finding.Health{Site: finding.AtLine(line, gofrHealth)}}}
}

// gofrSecured is a call that gives the server options, which may have credentials.
type gofrSecured struct{ *finding.Site }

// isGofrSettings reports whether a file has the variables of an app.
func isGofrSettings(file string) bool {
	return gofrFile.MatchString(path.Base(file)) && path.Base(path.Dir(file)) == "configs"
}

// analyzeGofrSettings returns the port that such a file states.
func analyzeGofrSettings(text []byte) *analyzer.Result[Extra] {
	for _, d := range address.EnvironmentFile(text) {
		if d.Variable == gofrVariable {
			return &analyzer.Result[Extra]{Findings: []finding.Finding{
				gofrSetting{finding.AtLine(d.Place.Line, "").Quiet(), d.Value},
			}}
		}
	}
	return nil
}

// gofrSays are what a project says of the servers of GoFr: their ports, by the directories of the apps, and what may
// give them TLS.
type gofrSays struct {
	ports   map[string]address.Value
	secured *finding.Site
}

func newGofrSays(p *project) gofrSays {
	says := gofrSays{ports: map[string]address.Value{}}
	for f := range p.All() {
		switch f := f.(type) {
		case gofrSetting:
			says.add(f)
		case gofrSecured:
			says.secured = f.Site
		}
	}
	return says
}

// add adds the port of a file, unless another one goes before it. It is not known which environment APP_ENV names, if
// any.
func (s gofrSays) add(f gofrSetting) {
	app, port := path.Dir(path.Dir(f.Path)), f.port
	port.Place.Path = f.Path
	switch m := gofrFile.FindStringSubmatch(path.Base(f.Path)); m[1] {
	case "":
		if _, ok := s.ports[app]; ok {
			return
		}
	case "local":
		if stated, ok := s.ports[app]; ok && stated.Port == 0 {
			return
		}
	default:
		port = address.Value{Address: address.Address{Variable: gofrVariable, Place: port.Place}}
	}
	s.ports[app] = port
}

// of returns a server with its address and its security.
func (s gofrSays) of(f finding.Server) []finding.Finding {
	port := address.Value{Address: address.Address{Port: gofrPort, Variable: gofrVariable, Certainty: address.Default}}
	port.Place = f.Place
	for dir := range tree.Ancestors(f.Path) {
		if stated, ok := s.ports[dir]; ok {
			port = stated
			break
		}
	}
	port.Host = address.AllInterfaces
	found := []finding.Finding{f, finding.ListenerAt(port)}
	if s.secured != nil {
		found = append(found, finding.Security{Site: f.Site.Quiet(), Says: plan.Security{Place: s.secured.Place}})
	}
	return found
}
