package analyzer

import (
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// HealthMade returns the places in a text that make objects of classes with the names of health services, outside of
// the body of the class itself. The group "class" of made is the class. The group "name" of head is the name in a class
// declaration, and head ends with the brace of the class body.
func HealthMade(t *source.Text, made, head *lazyregexp.Regexp) []finding.Finding {
	bodies := map[string]source.Span{}
	for _, m := range t.FindAll(head, maxClasses) {
		name, _ := t.Group(head, m, "name")
		_, body := t.Arguments(m[1])
		bodies[name] = body
	}
	var found []finding.Finding
	for _, m := range t.FindAll(made, maxClasses) {
		class, _ := t.Group(made, m, "class")
		if i := 2 * made.SubexpIndex("class"); !bodies[class].Contains(m[i]) {
			site := finding.At(t, source.Span{From: m[i], To: m[i+1]})
			found = append(found, finding.HealthMade{Site: site.Quiet(), Class: class})
		}
	}
	return found
}

// maxClasses bounds the classes of a text, and the objects of the classes.
const maxClasses = 64

// decideHealth registers the health service where the app makes an object of a class that implements the service.
// Without such an object for a project's own class, the health of the project's servers is unknown.
func decideHealth[T any](projects []*Project[T]) {
	classes := map[string]bool{}
	for _, p := range projects {
		for f := range p.All() {
			if c, ok := f.(finding.HealthClass); ok {
				classes[c.Class] = true
			}
		}
	}
	for _, p := range projects {
		isMade := map[string]bool{}
		for f := range p.All() {
			if m, ok := f.(finding.HealthMade); ok {
				isMade[m.Class] = true
			}
		}
		p.Decide(func(_ *Package, f finding.Finding) []finding.Finding {
			switch of := f.(type) {
			case finding.HealthMade:
				if !classes[of.Class] {
					return nil
				}
				return []finding.Finding{finding.Health{Site: of.Site}}
			case finding.HealthClass:
				if isMade[of.Class] {
					return nil
				}
				return []finding.Finding{finding.MayRegisterHealth(of.Site, "")}
			}
			return []finding.Finding{f}
		})
	}
}
