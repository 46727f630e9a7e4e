// Package detect is the buildpack's detect phase: it reads an app's folder and says whether the app serves gRPC, where
// that is written, and whether the standard health service (grpc.health.v1) is registered.
//
//	app folder --tree.Walk--> required files --Analyze, PostAnalyze--> []plan.Server
//
// Begin with [FindServers], then [Servers], which bounds its time and reports what it found. Package buildplan puts the
// leading server into the build plan. A language is a package
// below detect/language and one line in languages.go; package analyzer is the contract between them. Every app is
// untrusted: package tree bounds what is read, and how much of it.
package detect

import (
	"context"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// FindServers returns the servers that the app in folder dir serves over gRPC, the leading one first: what sources
// say goes before what built programs say, what is in folders of examples goes last of either, and then the path
// decides.
//
// One walk serves all languages. logf gets a line for people on every piece of evidence and on everything left unread
// (nil for none), never from two goroutines at once. The error is about dir itself, or it is ctx's: the servers found
// until then come with it.
func FindServers(ctx context.Context, dir string, logf tree.Logf) ([]plan.Server, error) {
	logf = tree.Serialize(logf)
	s := newScan(languages, logf)
	err := tree.Walk(ctx, dir, tree.Visitor{Required: s.required, Visit: s.visit}, logf)

	var servers []plan.Server
	for _, language := range s.scans {
		servers = append(servers, language.PostAnalyze(logf)...)
	}
	plan.Sort(servers)
	for i := range servers {
		servers[i].Others = len(servers) - 1
	}
	return servers, err
}

// scan is the analysis of one app by several analyzers.
type scan struct {
	analyzers []analyzer.Analyzer
	scans     []analyzer.Scan // of the analyzers, in their order
	logf      tree.Logf
}

func newScan(analyzers []analyzer.Analyzer, logf tree.Logf) *scan {
	s := &scan{analyzers: analyzers, logf: logf}
	for _, a := range analyzers {
		s.scans = append(s.scans, a.NewScan())
	}
	return s
}

// required reports whether an analyzer requires a file.
func (s *scan) required(path string) bool {
	for _, a := range s.analyzers {
		if a.Required(path) {
			return true
		}
	}
	return false
}

// visit has every analyzer that requires a file read it.
func (s *scan) visit(f *tree.File) {
	for i, a := range s.analyzers {
		if !a.Required(f.Path) {
			continue
		}
		if err := s.scans[i].Analyze(f); err != nil {
			s.logf("%s: %s", plan.Printable(f.Path), plan.Printable(err.Error()))
		}
	}
}
