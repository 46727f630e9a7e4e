package node

import (
	"bytes"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// addToServerCall is a call of the method of HealthImplementation. Minifiers keep its name.
	addToServerCall = lazyregexp.New(`\.addToServer\(`)
	// otherAdded is what adds another service by such a method, in the line before the call.
	otherAdded = lazyregexp.New(`(?i)reflect[^;\n]*$`)
	healthWord = lazyregexp.New(`(?i)health`)
)

// maxReceiver is how many bytes before a call may be what the method is called of.
const maxReceiver = 200

// findHealthServers reports where HealthImplementation is added to a server, and to which of several:
// health.addToServer(server). If the source does not make it, another one of the project may. In a bundle the
// reflection service may have the method, so the name of the health service has to be there too.
func (p *pass) findHealthServers() {
	if p.bundled && bytes.Contains(p.Raw, []byte("grpc.health.v1.Health")) {
		for _, m := range p.FindAll(addToServerCall, 1) {
			p.report(finding.RegistersHealth, source.Span{From: m[0] + 1, To: m[1]})
		}
	}
	if p.bundled || !healthWord.Match(p.Code) {
		return
	}
	isMade, ofOne := finding.Has[finding.Health](p.found), false
	var added []finding.Finding
	for _, m := range p.FindAll(addToServerCall, maxServers) {
		if otherAdded.Match(p.Code[max(0, m[0]-maxReceiver):m[0]]) {
			continue
		}
		at := finding.At(p.Text, source.Span{From: m[0] + 1, To: m[1]})
		if of := p.serverBefore(p.Element(m[1]).To); isMade || of != nil {
			ofOne = ofOne || of != nil
			added = append(added, finding.Health{Site: at, Of: of})
		} else {
			added = append(added, addedHealth{at})
		}
	}
	if ofOne {
		p.found = slices.DeleteFunc(p.found, finding.Is[finding.Health])
	}
	p.found = append(p.found, added...)
}

var (
	// addServiceCall may have a service of protobuf-ts, by adaptService of @protobuf-ts/grpc-backend.
	addServiceCall = lazyregexp.New(`\.addService\(\s*(?P<adapted>\.\.\.\s*adaptService\(\s*)?` +
		`(?P<service>[^;\n,][^;,]{0,200}?)\s*,\s*(?:new\s+)?(?P<implementation>[\w$.]*)`)
	// healthService is how a service of grpc.health.v1 is written: health.service (grpc-health-check), Health.service
	// (a .proto that was loaded), HealthService (generated), Health, or a path with the name of the package.
	healthService = lazyregexp.New(`(?:^|[.\]'"])Health(?:['"]\])?\.service$|` +
		`^(?:[\w$]+\.)*HealthService(?:Definition)?$|^(?i:\w*health\w*)\.service$|grpc\.health\.v1`)
	// adaptedHealth is how such a service is written.
	adaptedHealth = source.Exactly(`(?:[\w$]+\.)*Health`)
	// healthClass is what people and packages call an implementation of it.
	healthClass = source.Exactly(
		`(?:[\w$]+\.)*(?:Grpc)?Health(?:Check)?(?:Service|Server)?(?:Impl|Implementation)?`)
	// variable is a service that a variable or an element of a list is.
	variable   = lazyregexp.New(`^[\w$.]+(?:\[[\w$.]+\])?$`)
	anyService = lazyregexp.New(`\.service$|\['service'\]$|^(?:[\w$]+\.)*\w+(?:Service|Definition)$`)
	grpcWord   = lazyregexp.New(`(?i)grpc`)
)

// findAddService reports the calls server.addService(proto.Greeter.service, implementation). A definition of the health
// service beside them is a server's.
func (p *pass) findAddService() {
	mentionsGRPC, importsGRPC := grpcWord.Match(p.Raw), p.Imports.From(grpcModule)
	calls := p.FindAll(addServiceCall, -1)
	if d, ok := finding.First[healthDefinition](p.found); ok && len(calls) > 0 {
		p.found = append(p.found, finding.Health{Site: d.Site.Quiet()})
	}
	for _, m := range calls {
		at := source.Span{From: m[0] + 1, To: m[1]}
		service := p.Part(addServiceCall, m, "service")
		implementation := p.Part(addServiceCall, m, "implementation")
		isAdapted := p.Part(addServiceCall, m, "adapted") != ""
		switch {
		case isAdapted && adaptedHealth.MatchString(service), healthService.MatchString(service),
			healthClass.MatchString(implementation),
			healthModule.MatchString(p.Imports.Resolve(service).Module):
			p.found = append(p.found, finding.Health{Site: finding.At(p.Text, at), Of: p.serverBefore(m[0])})
		case !p.bundled && (isAdapted || anyService.MatchString(service) &&
			(strings.HasSuffix(service, ".service") && mentionsGRPC || importsGRPC)):
			p.report(finding.Registers(grpcJS), at)
		case variable.MatchString(service):
			p.found = append(p.found, listedService{finding.At(p.Text, at).Quiet()})
		}
	}
}

// receiverName is the name that a method is called of.
var receiverName = lazyregexp.New(`[\w$]+$`)

var (
	bindCall    = lazyregexp.New(`\.(?P<at>bind(?:Async)?)\(`)
	credentials = lazyregexp.New(`\bServerCredentials\b|\bcreate(?:Insecure|Ssl)\b`)
	// credentialsLike is what people call credentials that come from elsewhere.
	credentialsLike = lazyregexp.New(`(?i)^[\w$.]*cred(?:ential)?s?\w*(?:\(\))?$`)
	// constructedCredentials are made in the call itself.
	constructedCredentials = lazyregexp.New(`^\(*(?:\d,\s*)?[\w$.]*\bServerCredentials\.create`)
)

// findBind reports the calls server.bindAsync(address, credentials, callback), and those of bind of the older package
// grpc.
func (p *pass) findBind() {
	given := map[*finding.Site][]source.Span{}
	var servers []*finding.Site
	for _, m := range p.FindAll(bindCall, -1) {
		each, all := p.Arguments(m[1])
		if len(each) < 2 || !p.isBind(p.Slice(source.Span{From: m[2], To: m[3]}), each) {
			continue
		}
		p.report(finding.Registers(grpcJS), source.Span{From: m[2], To: min(all.To, len(p.Code))})
		if of := receiverName.Find(p.Code[max(0, m[0]-maxReceiver):m[0]]); len(p.servers) == 0 && of != nil {
			if module := p.moduleOf(string(of), m[0]); module != "" {
				p.found = append(p.found, importedServer{finding.At(p.Text, each[0]).Quiet(), module})
			}
		}
		l := p.listener(each[0])
		l.Of = p.serverBefore(m[0])
		p.found = append(p.found, l)
		if given[l.Of] == nil {
			servers = append(servers, l.Of)
		}
		if len(given[l.Of]) < maxServers {
			given[l.Of] = append(given[l.Of], each[1])
		}
	}
	for _, of := range servers {
		p.reportCredentials(of, given[of]...)
	}
}

// serverBefore returns the site of the server whose name stands before an offset; nil if the source constructs one
// server, or does not say which it is.
func (p *pass) serverBefore(at int) *finding.Site {
	return analyzer.Receiver(p.variables(), p.servers, at)
}

// isBind reports whether a call of bind or bindAsync is one of the app's to a gRPC server. Clients of LDAP and
// functions have a bind too, so the credentials have to be gRPC's, or a file that imports gRPC has to call bindAsync,
// or bind with what it calls credentials. In a bundle the frameworks themselves call it, with an address and
// credentials from their options, so both have to be written in the call.
func (p *pass) isBind(method string, arguments []source.Span) bool {
	where, second := p.Code[arguments[0].From:], bytes.TrimSpace(p.Code[arguments[1].From:arguments[1].To])
	isLike := method == "bindAsync" || credentialsLike.Match(second)
	if !credentials.Match(second) && !(isLike && p.Imports.From(grpcModule)) {
		return false
	}
	return !p.bundled || constructedCredentials.Match(second) && !bytes.HasPrefix(where, []byte("this."))
}
