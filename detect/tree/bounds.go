package tree

// Reading an app is bounded, because anybody can send any app. Parts past a bound are left unread, and a log line says
// so: detection then knows less, and the build goes on.
const (
	// MaxSource is the length of the longest text file to read, in bytes. Generators write longer files; people do not.
	MaxSource = 1 << 20
	// MaxProgram is how many bytes of a built program or archive are read: the headers and the tables of names. The
	// table of function names of the largest Go programs is under 64 MiB.
	MaxProgram = 256 << 20

	// maxDepth is how many directories deep the walk goes. The deepest real trees (Java packages) stay under 30.
	maxDepth = 64
	// maxReaders is how many goroutines read. Each may have maxDepth directories open, and the limit of a process is
	// often 1,024 open files.
	maxReaders = 8
	// maxEntries is how many names the walk looks at: ten times the largest app that detection is made for.
	maxEntries = 1_000_000
	// maxBytes is how many bytes of a whole tree are read: more source than the largest repositories have outside of
	// vendored code.
	maxBytes = 2 << 30
)
