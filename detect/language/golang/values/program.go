package values

import "slices"

// Within restricts what gives values to the packages of one program: what other programs of the app give a function
// that all call does not count then, nor do their settings files. Without a program nothing is restricted.
func (s *Sources) Within(program string, dirs func(dir string) bool) {
	s.program, s.within = program, dirs
}

// ofProgram returns those of several expressions that count: see [Sources.Within].
func (s *Sources) ofProgram(all []expression) []expression {
	if s.within == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(x expression) bool { return x.in != nil && !s.within(x.in.dir) })
}
