package analyzer

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

var (
	// statusOfServer matches a status of the whole server, in a call or in a map.
	statusOfServer = lazyregexp.New(`(?:(?i:set|status)\w*\(\s*(?:""|''|[\w.]*ALL_SERVICES)\s*,|` +
		`[{,]\s*(?:""|'')\s*(?::|=>))(?P<status>[^(),{}]{1,200})`)
	unknownStatus = lazyregexp.New(`(?i)(?:\b|_)UNKNOWN\b`)
	notServing    = lazyregexp.New(`(?i)NOT_?SERVING`)
)

// LeavesStatusUnknown reports whether a source sets the status of the whole server to UNKNOWN, which fails a probe, and
// nowhere to a status that passes.
func LeavesStatusUnknown(text []byte) bool {
	isUnknown := false
	for _, m := range statusOfServer.FindAllSubmatch(text, maxStatuses) {
		switch {
		case unknownStatus.Match(m[1]):
			isUnknown = true
		case !notServing.Match(m[1]):
			return false
		}
	}
	return isUnknown
}

// maxStatuses bounds the statuses that are read in a text.
const maxStatuses = 64

// asked is the probes' request to the health service of a server.
type asked struct {
	finding.Probes
	// isUnknown says that the service for probes is unknown. status is where the app sets a status of the service, nil
	// for nowhere.
	isUnknown bool
	status    *finding.HealthStatus
}

func (a asked) set(s *plan.Server) {
	s.Service, s.Liveness, s.IsServiceUnknown = a.Service(), a.Liveness, a.isUnknown
	s.StatusName, s.StatusEvidence = "", plan.Place{}
	if a.status != nil {
		s.StatusName, s.StatusEvidence = source.Excerpt([]byte(a.status.Named)), a.status.Place
	}
}

// askedOf returns the request of probes to a health service: the services with statuses from the app, unless the app
// sets the status of the whole server. Libraries start with SERVING or with no status for the whole server. The code of
// the app's own implementation names its services.
func (p serving) askedOf(in *Package, server proof, health finding.Health) asked {
	if health.Site != nil && !health.NeedsStatus {
		if check, ok := p.checkOf(health); ok {
			probes := finding.ProbesOf(check.Services)
			return asked{Probes: probes, isUnknown: !check.OfServer && len(probes.Readiness) == 0}
		}
	}
	var names, unsure []string
	var unnamed *finding.HealthStatus
	for s := range finding.All[finding.HealthStatus](slices.Concat(in.Findings, p.shared.of(server.Path))) {
		switch s = p.services.Named(s); {
		case s.OfServer && !s.NotServing:
			return asked{}
		case s.Named != "" && unnamed == nil:
			unnamed = &s
		}
		services := slices.DeleteFunc(s.Services, func(name string) bool { return !plan.IsServiceName(name) })
		if s.IsUnsure() {
			unsure = append(unsure, services...)
		} else {
			names = append(names, services...)
		}
	}
	if len(names) == 0 {
		names = unsure
	}
	probes := finding.ProbesOf(names)
	switch {
	case len(probes.Readiness) > 0:
		return asked{Probes: probes}
	case health.NeedsStatus && p.setsServer():
		return asked{}
	}
	return asked{isUnknown: health.NeedsStatus || unnamed != nil, status: unnamed}
}

// setsServer reports whether any source of the project sets the status of the whole server to anything but NOT_SERVING.
func (p serving) setsServer() bool {
	for _, in := range p.packages {
		for s := range finding.All[finding.HealthStatus](in.Findings) {
			if s.OfServer && !s.NotServing {
				return true
			}
		}
	}
	return false
}

// checkOf returns the app's own implementation of grpc.health.v1 in the file of a registration, or else in the
// innermost folder around the file with any implementation. ok is false unless the file or folder has exactly one.
func (p serving) checkOf(health finding.Health) (of finding.HealthCheck, ok bool) {
	var all []finding.HealthCheck
	for _, in := range p.packages {
		all = slices.AppendSeq(all, finding.All[finding.HealthCheck](in.Findings))
	}
	within := func(is func(file string) bool) (inside []finding.HealthCheck) {
		for _, check := range all {
			if is(check.Path) {
				inside = append(inside, check)
			}
		}
		return inside
	}
	inside := within(func(file string) bool { return file == health.Path })
	for dir := range tree.Ancestors(health.Path) {
		if len(inside) > 0 {
			break
		}
		inside = within(func(file string) bool { return tree.IsWithin(file, dir) })
	}
	if len(inside) != 1 {
		return finding.HealthCheck{}, false
	}
	return inside[0], true
}

// generatedName matches the name of a service in generated code of Go, Java, Python, C++, C# and Rust.
var generatedName = lazyregexp.New(`\b(\w+)_ServiceDesc\.ServiceName$|\b(\w+)Grpc\w*\.(?:SERVICE_NAME$|` +
	`(?:getServiceDescriptor|serviceDescriptor)\b)|\bservices_by_name\[["'](\w+)["']\]\.full_name$|` +
	`\b(\w+)::service_full_name\(\)$|\b(\w+)\.Descriptor\.FullName$|(?:^|::)(\w+)Server$`)

// Services maps the short names of services in .proto files and generated code to full names. Short names have no
// package, and are in lower case: generated code may write "API" as "Api". A short name of several services maps to "".
type Services map[string]string

// ServicesOf returns the services of projects.
func ServicesOf[T any](projects []*Project[T]) Services {
	all := Services{}
	for _, p := range projects {
		for _, f := range p.Files {
			for _, name := range f.Services {
				short := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
				switch other, ok := all[short]; {
				case ok && strings.EqualFold(other, name): // capitals sort first: "API" before "Api" in generated code
					name = min(other, name)
				case ok:
					name = ""
				}
				all[short] = name
			}
		}
	}
	return all
}

// Named returns a status with its service, if generated code names the service.
func (all Services) Named(s finding.HealthStatus) finding.HealthStatus {
	m := generatedName.FindStringSubmatch(s.Named)
	if m == nil {
		return s
	}
	if name := all[strings.ToLower(strings.Join(m[1:], ""))]; name != "" {
		return s.With(name)
	}
	return s
}

// maxServices bounds the services that are read in a file.
const maxServices = 64

var (
	protoService = lazyregexp.New(`(?m)^[ \t]*service[ \t]+(?P<name>\w+)\s*\{`)
	// describedService matches the full name of a service in the output of protoc-gen-go-grpc.
	describedService = lazyregexp.New(`(?m)^[ \t]*ServiceName:[ \t]*"(?P<name>[\w.]+)",$`)
)

// servicesIn returns the full names of the services in a .proto file, or in generated Go code.
func servicesIn(file string, text []byte) []string {
	pattern, prefix := describedService, ""
	if path.Ext(file) == ".proto" {
		pattern = protoService
		if m := protoPackage.FindSubmatch(text); m != nil {
			prefix = string(m[1]) + "."
		}
	}
	var all []string
	names := source.Uncut(text).Names(pattern)
	for _, name := range names[:min(len(names), maxServices)] {
		all = append(all, prefix+name)
	}
	return all
}

var (
	// isConstant matches the name of a constant by its letters, and declaresConstant a declaration before the name on
	// the line.
	isConstant       = lazyregexp.New(`^(?:[A-Z][A-Z0-9_]*|k[A-Z]\w*)$`)
	declaresConstant = lazyregexp.New(`\b(?:static|final|constexpr|readonly|const\s+(?:val|string|char|std::\S+))\b`)
	// lastName matches the last name of a path.
	lastName = lazyregexp.New(`^(?:\w+(?:\.|::|->))*([A-Za-z_]\w*)$`)
	// constantText matches the type and the value after the name of a string constant, and loopTexts the list of
	// strings after the variable of a loop.
	constantText = lazyregexp.New(`^(?:\s*:\s*[^=;,(){}\n]{1,40}|\[\])?\s*=\s*("[ ]*"|'[ ]*')\s*(?:[;,]|\n|$)`)
	quoted       = lazyregexp.New(`"[ ]*"|'[ ]*'`)
	loopTexts    = lazyregexp.New(
		`^\s*(?::|\bin\b|\bof\b)\s*[\w.:&]*[\[({]\s*((?:"[ ]*"|'[ ]*')(?:\s*,\s*(?:"[ ]*"|'[ ]*'))*)\s*,?\s*[\])}]`)
)

// withConstant returns a status with the services from a string constant of the text, or from a loop through strings.
func withConstant(t *source.Text, s finding.HealthStatus) finding.HealthStatus {
	m := lastName.FindStringSubmatch(s.Named)
	if m == nil {
		return s
	}
	for at := range t.Words(m[1]) {
		end := at + len(m[1])
		after := t.Code[end:min(len(t.Code), end+maxStatement)]
		line := t.Code[bytes.LastIndexByte(t.Code[:at], '\n')+1 : at]
		texts := loopTexts.FindSubmatchIndex(after)
		if texts == nil && (isConstant.MatchString(m[1]) || declaresConstant.Match(line)) {
			texts = constantText.FindSubmatchIndex(after)
		}
		if texts == nil {
			continue
		}
		var names []string
		for _, text := range quoted.FindAllIndex(after[texts[2]:texts[3]], -1) {
			from := end + texts[2]
			names = append(names, string(t.Raw[from+text[0]+1:from+text[1]-1]))
		}
		return s.With(names...)
	}
	return s
}
