package plan

// Requirement is an entry of the build plan from an app's own settings, beside the probe's entry. The buildpack
// provides and requires the entry.
type Requirement struct {
	Name     string
	Metadata map[string]any
	// Reason is a line for the log about the requirement.
	Reason string
}
