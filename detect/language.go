package detect

import (
	"cmp"
	"slices"
)

// language recognises the gRPC servers of one language. Each is made in a file of its own, which calls register from an
// init function; nothing else needs to know of it.
type language struct {
	name  string // in the build plan: "go"
	title string // for people: "Go"

	// wants reports, from its slash-separated path in the tree alone, whether a file can decide anything. It is asked of
	// every file of the tree, more than once, and by several goroutines.
	wants func(path string) bool
	// look returns what a wanted file says, or nil. An error means that the file was left unread; it may come with a value.
	// Several goroutines call it at once.
	look func(f *file) (value any, err error)
	// conclude turns what look returned, ordered by path, into services, and notes all evidence.
	conclude func(facts []fact, note func(format string, args ...any)) []Service
	// advice says what to write into a server of the framework to have the health service.
	advice func(framework string) string
}

// fact is what one file says.
type fact struct {
	path  string
	value any // as look returned it
}

// languages are all registered ones, by name, so that no result depends on the order of init functions.
var languages []language

func register(l language) {
	languages = append(languages, l)
	slices.SortFunc(languages, func(a, b language) int { return cmp.Compare(a.name, b.name) })
}

// languageNamed returns the language with the plan's name for it; the zero value where there is none.
func languageNamed(name string) language {
	if i := slices.IndexFunc(languages, func(l language) bool { return l.name == name }); i >= 0 {
		return languages[i]
	}
	return language{}
}
