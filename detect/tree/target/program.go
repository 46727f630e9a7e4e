package target

import (
	"path"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// setAddress sets where a server listens that several programs start, if the first module that is one of these tells
// which: what it names may be the folder of several.
func (t Target) setAddress(s *plan.Server) {
	if s.Address.IsKnown() {
		return
	}
	for _, m := range t.named {
		var named []plan.Address
		for program, a := range s.ByProgram {
			if m.builds(asBuiltBy(s, program)) {
				named = append(named, a)
			}
		}
		if len(named) == 1 {
			s.Address = named[0]
		}
		if len(named) > 0 && len(named) < len(s.ByProgram) {
			return
		}
	}
}

// asBuiltBy returns a server as if one program alone had it.
func asBuiltBy(s *plan.Server, program string) *plan.Server {
	one := *s
	one.Programs, one.Evidence.Path = []string{program}, path.Join(program, path.Base(s.Evidence.Path))
	return &one
}
