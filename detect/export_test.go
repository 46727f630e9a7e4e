package detect

// FrameworkNames returns the names of all frameworks that are known.
func FrameworkNames() []string {
	var names []string
	for _, l := range languages {
		for _, f := range l.frameworks {
			names = append(names, f.name)
		}
	}
	return names
}
