package tree

// What is read of an app is bounded, because anybody can send any app. What lies past a bound is left unread and a log
// line says so: detection then knows less, and the build goes on.
const (
	// MaxSource is the longest text file that is read, in bytes. People write none that long; generators do.
	MaxSource = 1 << 20
	// MaxProgram is how many bytes are read of one built program or archive: its headers and its tables of names. The
	// table of function names of the largest Go programs is under 64 MiB.
	MaxProgram = 256 << 20

	// maxDepth is how many directories deep the walk goes. The deepest real trees (Java packages) stay under 30.
	maxDepth = 64
	// maxReaders is how many goroutines read. Each may have maxDepth directories open, and a process may often open no
	// more than 1,024 files.
	maxReaders = 8
	// maxEntries is how many names are looked at: ten times the largest app that detection is made for.
	maxEntries = 1_000_000
	// maxBytes is how many bytes are read of a whole tree: more source than the largest repositories have outside of
	// vendored code.
	maxBytes = 2 << 30
)
