// Package analyzer is the contract between the detect phase and the languages, and the common code of the languages:
// from files to findings, and from findings to gRPC servers.
//
//	file --Required, Analyze--> Result (findings) --PostAnalyze: Projects, Servers--> []plan.Server
//
// Sources and settings that prove nothing alone wait until another file proves a server ([Definition.MayServe],
// [Scan.Waits]). An app in another language, with many such sources in its web pages, then costs only the search for a
// few words.
//
// Begin with [Definition], which a language fills in, and [New]. [Rule] is the usual way from a source to findings, and
// [Servers] the usual way from findings to servers.
package analyzer

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/detect/tree/target"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Language names a language, or several languages of one build.
type Language struct {
	Name  string // in the build plan: "go"
	Title string // for users: "Go"
	// Others are further names of languages that servers may have, with their titles.
	Others map[string]string
	// Frameworks are all frameworks of the language's servers.
	Frameworks []Framework
	// Toolchain says how programs in the language are built and started.
	Toolchain target.Toolchain
}

// Titles returns the titles of the languages in alphabetical order.
func (l Language) Titles() []string {
	titles := []string{l.Title}
	for _, title := range l.Others {
		titles = append(titles, title)
	}
	slices.Sort(titles)
	return titles
}

// Analyzer recognizes the gRPC servers of one language. Several goroutines may call its methods at once.
type Analyzer interface {
	// Language describes what the analyzer can find.
	Language() Language
	// Required reports, by the path alone, whether a file can hold evidence. Each file of an app costs one or two
	// calls, so a look at the extension should be enough to refuse a file.
	Required(path string) bool
	// NewScan begins the analysis of one app.
	NewScan() Scan
}

// Scan is the analysis of one app by one analyzer.
type Scan interface {
	// Analyze reads one required file and keeps the findings. An error means that the file was left out, in whole or in
	// part. Several goroutines call Analyze at once.
	Analyze(f *tree.File) error
	// Waits reports, after all files are analyzed, whether a file needs another Analyze: the file waited for proof of a
	// server, and another file proves a server.
	Waits(path string) bool
	// PostAnalyze returns the servers that the files prove, after the last Analyze. logf gets a line for each piece of
	// evidence.
	PostAnalyze(logf tree.Logf) []plan.Server
}

// Definition is an analyzer as a language writes it. T holds the facts of a file beside its findings, such as the
// module path in a go.mod; struct{} for none.
type Definition[T any] struct {
	Language
	// Required is the method of [Analyzer].
	Required func(path string) bool
	// MayServe reports whether a source or a settings file may prove a server, by a search for a few words. A file
	// without these words can only explain the names in a proof, so the file is analyzed only if another file proves a
	// server.
	MayServe func(text []byte) bool
	// Analyze returns the result of a required file. An empty result is dropped, like nil. Several goroutines call
	// Analyze at once. An error means that the file was left out; a result may come with the error. The result must not
	// refer to the bytes of the file's text.
	Analyze func(f *tree.File) (*Result[T], error)
	// PostAnalyze makes servers of the results, which are ordered by path. A server without a language gets the name of
	// the definition's language.
	PostAnalyze func(files []File[T], logf tree.Logf) []plan.Server
}

// New returns the analyzer of a definition.
func New[T any](d Definition[T]) Analyzer {
	d.Toolchain.Languages = append(slices.Collect(maps.Keys(d.Others)), d.Name)
	return definition[T]{d}
}

type definition[T any] struct{ Definition[T] }

func (d definition[T]) Language() Language { return d.Definition.Language }
func (d definition[T]) NewScan() Scan {
	return &scan[T]{definition: d.Definition, waiting: map[string]bool{}}
}

// analyze adds to the result of Analyze the services in a .proto file or in generated Go code.
func (d Definition[T]) analyze(f *tree.File) (*Result[T], error) {
	result, err := d.Analyze(f)
	if path.Ext(f.Path) != ".proto" && !strings.HasSuffix(f.Path, "_grpc.pb.go") {
		return result, err
	}
	if text, unread := f.Text(); unread == nil {
		result = cmp.Or(result, &Result[T]{})
		result.Services = servicesIn(f.Path, text)
		if path.Ext(f.Path) == ".proto" {
			result.Health = healthInProto(text)
		}
	}
	return result, err
}

func (d definition[T]) Required(path string) bool {
	return d.Definition.Required(path)
}

// scan collects the results of the files of one app.
type scan[T any] struct {
	definition Definition[T]
	found      atomic.Bool // a file proves a server
	mu         sync.Mutex
	files      []File[T]
	waiting    map[string]bool // the paths of sources that wait for a proof
}

func (s *scan[T]) Analyze(f *tree.File) error {
	if !s.found.Load() && !s.mayServe(f) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.waiting[f.Path] = true
		return nil
	}
	result, err := s.definition.analyze(f)
	if result == nil || result.isEmpty() {
		return err
	}
	finding.Locate(result.Findings, f.Path)
	if slices.ContainsFunc(result.Findings, finding.MayServe) {
		s.found.Store(true)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files = append(s.files, File[T]{f.Path, *result})
	return err
}

// mayServe reports whether a file may prove a server. An unreadable file may: Analyze returns the error.
func (s *scan[T]) mayServe(f *tree.File) bool {
	if !s.definition.Toolchain.IsSource(f.Path) && !isSettings[path.Ext(f.Path)] {
		return true
	}
	text, err := f.Text()
	return err != nil || s.definition.MayServe(text)
}

// isSettings holds the extensions of settings files.
var isSettings = map[string]bool{
	".json": true, ".yaml": true, ".yml": true, ".toml": true, ".ini": true, ".cfg": true, ".conf": true,
}

func (s *scan[T]) Waits(path string) bool { return s.found.Load() && s.waiting[path] }

func (s *scan[T]) PostAnalyze(logf tree.Logf) []plan.Server {
	slices.SortFunc(s.files, func(a, b File[T]) int { return cmp.Compare(a.Path, b.Path) })
	servers := withoutBazelTests(s.files, func(files []File[T]) []plan.Server {
		return s.definition.PostAnalyze(files, logf)
	})
	for i := range servers {
		s.definition.complete(&servers[i])
	}
	return servers
}

// SetLanguages sets the languages of servers: by extension for sources, by the results of the files for built programs.
func SetLanguages[T any](servers []plan.Server, files []File[T], ofSource map[string]string) {
	ofProgram := map[string]string{}
	for _, f := range files {
		ofProgram[f.Path] = f.Language
	}
	for i := range servers {
		file := servers[i].Evidence.Path
		servers[i].Language = cmp.Or(ofProgram[file], ofSource[path.Ext(file)])
	}
}

// complete adds the facts that the build phase prints about a server, and whether the server lies beside the app
// proper. A server in examples does so in any program.
func (l Language) complete(s *plan.Server) {
	s.Aside, s.IsExample = tree.Aside(fileOf(s))
	if dir, isExample := tree.Aside(s.Evidence.Path); isExample && s.Aside == "" {
		s.Aside = dir
	}
	s.IsVariant = tree.AnyDirIn(strings.ToLower(s.Evidence.Path), l.Toolchain.Folders)
	s.Language = cmp.Or(s.Language, l.Name)
	s.Title = l.Title
	if title, ok := l.Others[s.Language]; ok {
		s.Title = title
	}
	for _, f := range l.Frameworks {
		if f.Name == s.Framework {
			s.HealthAdvice, s.SpeaksFirst = f.Advice, f.SpeaksFirst
			isByDefault := s.Security == plan.Security{Transport: plan.Plaintext}
			if isByDefault && f.ExplicitCredentials {
				s.Security = plan.Security{}
			}
			switch {
			case s.Health == plan.HealthAutomatic:
				s.Service = cmp.Or(f.Service, s.Service)
			case s.Health == plan.HealthRegistered && !f.hasHealth(): // with a server made elsewhere
				s.Health = ""
				asked{}.set(s)
			}
		}
	}
}

// fileOf returns a file of the server's program: a library lies in the program that is built with it. A Go folder
// "internal" is part of the app and no library; the app's program in cmd may be called "example".
func fileOf(s *plan.Server) string {
	of := s.Evidence.Path
	isInternal := strings.HasPrefix(of, "internal/") || strings.Contains(of, "/internal/")
	if len(s.Programs) == 0 || isInternal && strings.HasSuffix("/"+s.Programs[0], "/cmd/example") {
		return of
	}
	return s.Programs[0] + "/" + path.Base(of)
}
