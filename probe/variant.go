package probe

// NeedsFull reports whether default flags ask for what only the full probe can do: -alts and -spiffe.
func NeedsFull(words []string) bool {
	s := newSettings()
	return s.parseDefaults(words) == nil && (s.options.ALTS || s.options.SPIFFE)
}
