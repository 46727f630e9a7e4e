package detect

import "path"

// goConclude makes a service of each package that makes a server. A package that only registers on a server made
// elsewhere (in a helper outside of the tree) is one where nothing in its module makes a server.
func goConclude(facts []fact, note func(format string, args ...any)) []Service {
	t := goPutTogether(facts, note)
	var services []Service
	for _, folder := range t.order {
		if s, ok := t.service(t.folders[folder]); ok {
			services = append(services, s)
		}
	}
	return t.withPrograms(services)
}

// goMakes are the kinds that make a server by themselves, the plainest first.
var goMakes = []goKind{goConstructs, goKitex, goHandles}

func (t *goTree) service(f *goFolder) (Service, bool) {
	lead, makes := f.first(goMakes...)
	if !makes {
		var ok bool
		if lead, ok = t.impliedBy(f); !ok {
			return Service{}, false
		}
	}
	for _, s := range f.signs {
		if s.what != "" {
			t.note("evidence: %s: %s", s.Place, printable(s.what))
		}
	}
	service := Service{Framework: lead.framework, Evidence: lead.Place, Port: f.port(lead.kind)}
	service.Health, service.HealthEvidence = t.health(f, lead, makes)
	return service, true
}

// impliedBy returns the registration that implies a server which is made outside of the module. A health registration
// does so only where there is no other: it may be the helper of one.
func (t *goTree) impliedBy(f *goFolder) (goPlaced, bool) {
	lead, ok := f.first(goRegisters, goHealth)
	if !ok || f.module.makes || lead.kind == goHealth && f.module.registers {
		return goPlaced{}, false
	}
	lead.framework = "grpc-go"
	return lead, true
}

// health looks for a registration in the server's own package, then in those of its module that make no server (one in
// another server's package is that server's), and, for a server made outside of its module, in the tree's other packages
// that are no programs.
func (t *goTree) health(f *goFolder, lead goPlaced, makes bool) (Health, Place) {
	if s, ok := f.first(goHealth); ok {
		return HealthRegistered, s.Place
	}
	if lead.automatic && !f.has(goNoHealth) {
		return HealthAutomatic, lead.Place
	}
	if f.module.health.Path != "" {
		return HealthRegistered, f.module.health
	}
	if !makes && t.helperHealth.Path != "" {
		return HealthRegistered, t.helperHealth
	}
	return HealthMissing, Place{}
}

// port returns the one port that the package names for a server of the kind; 0 where it names none or several, or listens
// on one that it does not name.
func (f *goFolder) port(kind goKind) int {
	port := 0
	for _, s := range f.signs {
		if s.kind != goListens && (s.kind != goListensHTTP || kind != goHandles) {
			continue
		}
		if s.port == goNoPort || port != 0 && port != s.port {
			return 0
		}
		port = s.port
	}
	return port
}

// withPrograms adds the built programs to what their sources say. A program of a module whose sources are here and make
// servers is not one more service; it may know of a health registration that a helper outside of the tree makes.
func (t *goTree) withPrograms(services []Service) []Service {
	sources := services
	for _, p := range t.programs {
		if !p.serves {
			continue
		}
		t.note("evidence: %s: %s", p.Place, goServerFunc)
		if s := t.sourceOf(p.main, sources); s != nil {
			if p.health && s.Health == HealthMissing {
				s.Health, s.HealthEvidence = HealthRegistered, p.Place
			}
			continue
		}
		s := Service{Framework: "grpc-go", Evidence: p.Place, Built: true, Health: HealthMissing}
		if p.health {
			s.Health, s.HealthEvidence = HealthRegistered, s.Evidence
		}
		services = append(services, s)
	}
	return services
}

// sourceOf returns the service that a program with this main package is built from: the one in that package, or the
// first of its module; nil where the tree holds none.
func (t *goTree) sourceOf(main string, services []Service) *Service {
	dir, ok := t.folderOf(main)
	if !ok {
		return nil
	}
	var found *Service
	for i := range services {
		folder := path.Dir(services[i].Evidence.Path)
		if folder == dir {
			return &services[i]
		}
		if found == nil && t.folders[folder].module == t.moduleOf(dir) {
			found = &services[i]
		}
	}
	return found
}
