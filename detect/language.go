package detect

import (
	"cmp"
	"maps"
	"slices"
)

// language recognises the gRPC servers of one language. Each is made in a file of its own, which calls register from an
// init function; nothing else needs to know of it.
type language struct {
	name  string // in the build plan: "go"
	title string // for people: "Go"
	// also are further names that conclude gives to services, with their titles, where one build serves several languages.
	also map[string]string
	// frameworks are all that conclude gives to services.
	frameworks []framework

	// wants reports, from its slash-separated path in the tree alone, whether a file can decide anything. It is asked once
	// of every file of the tree, by several goroutines: a file of another ending should cost it one look at the ending.
	wants func(path string) bool
	// look returns what a wanted file says, or nil. An error means that the file was left unread; it may come with a sheet.
	// Several goroutines call it at once. Nothing that it returns may hold on to the bytes of file.text.
	look func(f *file) (*sheet, error)
	// conclude turns what look returned, ordered by path, into services, and notes all evidence. Services without a
	// language get the language's name.
	conclude func(facts []fact, note func(format string, args ...any)) []Service
}

// framework is one way to serve gRPC in a language. The table in docs/detection.md is made of these.
type framework struct {
	name     string // in the build plan and for people: "grpc-go"
	evidence string // what decides, for people, in Markdown: "`grpc.NewServer`"
	health   string // for people: what registers grpc.health.v1, or that it has to be written
	advice   string // what to write into a server of it to have the health service, fit to be pasted
}

// sheet is what one file says.
type sheet struct {
	signs []sign
	root  bool // its folder is a project's: the file is a go.mod, a Cargo.toml, a pom.xml
	built bool // it is a built program or archive
	own   any  // what only its language understands
}

// fact is a file and what it says.
type fact struct {
	path string
	*sheet
}

// languages are all registered ones, by name, so that no result depends on the order of init functions.
var languages []language

func register(l language) {
	languages = append(languages, l)
	slices.SortFunc(languages, func(a, b language) int { return cmp.Compare(a.name, b.name) })
}

// languageNamed returns the language with the plan's name for it, and its title; zero values where there is none.
func languageNamed(name string) (language, string) {
	for _, l := range languages {
		if l.name == name {
			return l, l.title
		}
		if title, ok := l.also[name]; ok {
			return l, title
		}
	}
	return language{}, ""
}

// titles returns the names of all languages for people, in alphabetical order.
func titles() []string {
	var titles []string
	for _, l := range languages {
		titles = append(titles, l.title)
		titles = slices.AppendSeq(titles, maps.Values(l.also))
	}
	slices.Sort(titles)
	return titles
}
