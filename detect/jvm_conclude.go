package detect

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// jvmStarters make a server of a generated XImplBase, and most register grpc.health.v1 with it.
var jvmStarters = []jvmStarter{
	{jvmNamed(`spring-boot-starter-grpc-server|spring-grpc(?:-server(?:-web)?)?-spring-boot-starter|spring-boot-grpc-server`), "Spring gRPC"},
	{regexp.MustCompile(`^net\.devh:grpc-(?:server-)?spring-boot-|^grpc-server-spring-boot-`), "net.devh"},
	{regexp.MustCompile(`lognet:grpc-spring-boot-starter|^grpc-spring-boot-starter\b|^io\.github\.lognet\.grpc-spring-boot$`), "LogNet"},
	{jvmNamed(`micronaut-grpc-(?:server-)?runtime`), "Micronaut"},
	{jvmNamed(`quarkus-grpc`), "Quarkus"},
}

var (
	jvmServices = jvmNamed(`grpc-services`)
	jvmServlet  = jvmNamed(`grpc-servlet(?:-jakarta)?|spring-grpc-server-web-spring-boot-starter`)
	// jvmHandlers are the plug-ins that generate handlers and routers, by sbt, Gradle and Maven.
	jvmHandlers   = regexp.MustCompile(`(?:akka|pekko)[.-]grpc|(?:^|[:.])play-grpc|sbt-(?:akka|pekko)-grpc`)
	jvmPlainNames = []string{"grpc-java", "grpc-kotlin", "ScalaPB"}
)

// jvmNamed fits an artifact of any group, or a jar of it.
func jvmNamed(names string) *regexp.Regexp {
	return regexp.MustCompile(`(?:^|:)(?:` + names + `)(?:$|:|-\d)`)
}

type jvmStarter struct {
	artifact  *regexp.Regexp
	framework string
}

// jvmConclude makes a service of each server that is made, and of each project whose framework makes one.
func jvmConclude(facts []fact, note func(format string, args ...any)) []Service {
	all := projects(facts, itself)
	builds := jvmBuilds(facts, all)
	for _, p := range all {
		builds.of[p].settle(p)
	}
	builds.join(all)
	leaveOutBuilt(all)
	services := servers(all, note)
	built := map[string]string{}
	for _, f := range facts {
		if f.built {
			built[f.path] = jvmSaysOf(f).language
		}
	}
	for i := range services {
		s := &services[i]
		if s.Language = jvmLanguages[path.Ext(s.Evidence.Path)]; s.Built {
			s.Language = built[s.Evidence.Path]
		}
	}
	return services
}

var jvmLanguages = map[string]string{".kt": "kotlin", ".scala": "scala"}

func jvmSaysOf(f fact) jvmSays {
	says, _ := f.own.(jvmSays)
	return says
}

// settle turns the signs that depend on the build into general ones, or leaves them to nobody.
func (b *jvmBuild) settle(p *project) {
	starter := b.starter()
	for _, u := range p.units {
		for i := range u.signs {
			b.settleSign(&u.signs[i].sign, starter)
		}
	}
	b.set(p)
}

func (b *jvmBuild) settleSign(s *sign, starter string) {
	switch {
	case s.kind == jvmHandles && b.has(jvmHandlers):
		s.kind = registers
		if s.framework == "Pekko gRPC" {
			s.kind = constructs
		}
	case s.kind == jvmHandlesHealth && b.has(jvmHandlers):
		s.kind = health
	case s.kind == jvmDubbo && b.settings.triple():
		s.kind = registers
	case s.kind == registers && starter != "" && slices.Contains(jvmPlainNames, s.framework):
		s.framework, s.automatic = starter, true
	}
	switch {
	case s.framework == "Micronaut":
		s.automatic = b.has(jvmServices)
	case s.framework == "Dubbo":
		s.automatic = b.settings["dubbo.tri.builtin.service.init"] == "true"
	}
}

// starter returns the framework that makes a server of what the project implements; "" for none.
func (b *jvmBuild) starter() string {
	for _, s := range jvmStarters {
		if b.has(s.artifact) {
			return s.framework
		}
	}
	return ""
}

// jvmTelling reports whether an artifact decides anything.
func jvmTelling(artifact string) bool {
	return jvmServices.MatchString(artifact) || jvmServlet.MatchString(artifact) || jvmHandlers.MatchString(artifact) ||
		slices.ContainsFunc(jvmStarters, func(s jvmStarter) bool { return s.artifact.MatchString(artifact) })
}

func (b *jvmBuild) has(artifact *regexp.Regexp) bool {
	return slices.ContainsFunc(b.artifacts, artifact.MatchString)
}

// jvmKeys are the settings of the frameworks that make the server: what takes the health service off, where it listens,
// and where it does unless told (as the frameworks' own property classes have it).
var jvmKeys = map[string]struct {
	health, port string
	standard     int
}{
	"Spring gRPC": {"spring.grpc.server.health.enabled", "spring.grpc.server.port", 9090},
	"net.devh":    {"grpc.server.healthserviceenabled", "grpc.server.port", 9090},
	"LogNet":      {"", "grpc.port", 6565},
	"Quarkus":     {"quarkus.grpc.server.grpchealth.enabled", "quarkus.grpc.server.port", 9000},
	"Micronaut":   {"grpc.server.health.enabled", "grpc.server.port", 50051},
	"Dubbo":       {"", "dubbo.protocol.port", 50051},
}

// set adds what the settings say of the project's framework, and the port that it listens on unless told.
func (b *jvmBuild) set(p *project) {
	at := slices.IndexFunc(p.units, func(u *unit) bool { return u.has(registers) })
	if at < 0 || p.has(constructs) {
		return
	}
	from, _ := p.units[at].first(registers)
	keys, ok := jvmKeys[from.framework]
	if !ok {
		return
	}
	said := &unit{path: "settings of " + p.dir}
	if b.settings[keys.health] == "false" {
		said.signs = append(said.signs, placed{sign: sign{kind: noHealth}})
	}
	port, standard := keys.port, keys.standard
	if servlet, on := b.servlet(from.framework); servlet != "" {
		port, standard = servlet, on
	}
	said.signs = append(said.signs, placed{sign: sign{kind: listens, port: b.port(port, standard)}})
	p.units = append(p.units, said)
}

// servlet returns the setting of the port, and its default, where the web server serves gRPC too.
func (b *jvmBuild) servlet(framework string) (string, int) {
	const web = 8080
	switch {
	case framework == "Spring gRPC" && b.has(jvmServlet) && b.settings["spring.grpc.server.servlet.enabled"] != "false":
		return "server.port", web
	case framework == "Quarkus" && b.settings["quarkus.grpc.server.useseparateserver"] == "false":
		return "quarkus.http.port", web
	}
	return "", 0
}

// port returns the port of a setting, or the standard one where no settings elsewhere can say otherwise.
func (b *jvmBuild) port(key string, standard int) int {
	if value, ok := b.settings[key]; ok {
		return statedPort(value)
	}
	for other := range b.settings {
		if other == jvmUnread || strings.HasPrefix(other, "spring.cloud.config") || strings.HasPrefix(other, "spring.config.import") ||
			strings.HasPrefix(other, "dubbo.protocols.") || strings.HasPrefix(other, "spring.grpc.server.address") {
			return noPort
		}
	}
	_, set := b.profiles[key]
	_, unread := b.profiles[jvmUnread]
	if set || unread {
		return noPort
	}
	return standard
}

func (s jvmSettings) triple() bool {
	for key, value := range s {
		if strings.HasPrefix(key, "dubbo.protocol") && strings.HasSuffix(key, ".name") && value == "tri" {
			return true
		}
	}
	return false
}
