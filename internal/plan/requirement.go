package plan

// Requirement is an entry that an app's own settings put into the build plan, beside the probe's. The buildpack
// provides it and requires it.
type Requirement struct {
	Name     string
	Metadata map[string]any
	// Reason is a line for the log that says what is required.
	Reason string
}
