package detect

import "time"

// What is read of an app is bounded, because whoever sends an app sends whatever they like. Past a bound the rest is left
// unread with a note: detection then knows less, and the build goes on.
const (
	// maxTime is how long the detect phase reads: a tree of maxEntries takes seconds, so only a stuck disk, or an app made to
	// be slow, gets here.
	maxTime = time.Minute
	// maxOneFile is how much longer the file may take that is being read then, and to conclude.
	maxOneFile = 30 * time.Second
	// maxDepth is how deep folders are entered. The deepest real trees (Java packages) stay under 30.
	maxDepth = 64
	// maxReaders is how many goroutines read. Each may have maxDepth folders open, and a process often no more than 1,024
	// files.
	maxReaders = 8
	// maxEntries is how many names are looked at, ten times the largest app this is made for.
	maxEntries = 1_000_000
	// maxBytes is what may be read of a whole tree: more source than the largest repositories have outside of vendored code.
	maxBytes = 2 << 30
	// maxSourceBytes is the longest source that is read. People write none that long; generators do.
	maxSourceBytes = 1 << 20
	// maxProgramBytes is what may be read of one built program: its headers and its table of function names, which in the
	// largest Go programs is under 64 MiB.
	maxProgramBytes = 256 << 20
	// maxListed is how many services the log lists: what people read, and not what an app makes up.
	maxListed = 30
	// maxText is how many bytes of a name from the app go into a log or a build plan: the longest path Linux takes.
	maxText = 4096
)
