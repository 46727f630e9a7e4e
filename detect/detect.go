// Package detect is the buildpack's detect phase. It reads an app's folder and says whether the app serves gRPC, where
// the evidence is, and whether the standard health service (grpc.health.v1) is registered.
//
//	app folder --tree.Walk--> required files --Analyze, PostAnalyze--> []plan.Server
//
// Begin with [FindServers], then [Servers], which bounds the time and reports the result. Package buildplan puts the
// leading server into the build plan. A language is a package below detect/language and a line in languages.go; package
// analyzer is the contract between the packages. Every app is untrusted: package tree bounds the files and the bytes
// read.
package detect

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/detect/tree/target"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// FindServers returns the gRPC servers of the app in folder dir, the leading server first, in the order of [plan.Sort].
// Build settings in the environment count: see package target.
//
// One walk serves all languages. logf gets a line for users on every piece of evidence and on everything left unread
// (nil for none), never from two goroutines at once. The error is about dir itself or comes from ctx: servers found
// before are returned with the error.
func FindServers(ctx context.Context, dir string, logf tree.Logf) ([]plan.Server, error) {
	f, err := find(ctx, dir, logf)
	return f.servers, err
}

type found struct {
	servers  []plan.Server // the leading server first
	notes    []string      // lines about build targets, failed files, and a scan cut short
	examples []plan.Server // left out
}

// find is [FindServers], with notes and left-out examples.
func find(ctx context.Context, dir string, logf tree.Logf) (found, error) {
	logf = tree.Serialize(logf)
	s := newScan(languages, logf)
	err := tree.Walk(ctx, dir, tree.Visitor{Required: s.required, Visit: s.visit}, logf)
	if err == nil {
		err = tree.Walk(ctx, dir, tree.Visitor{Required: s.waits, Visit: s.visitWaiting}, nil)
	}

	var f found
	for _, language := range s.scans {
		f.servers = append(f.servers, language.PostAnalyze(logf)...)
	}
	f.notes = target.Mark(f.servers, s.files.Targets(os.Getenv), func(path string) bool { return exists(dir, path) })
	f.notes = append(f.notes, s.faults()...)
	s.files.SetAside(f.servers)
	f.servers = withoutTestOnly(f.servers)
	plan.Sort(f.servers)
	f.leaveOut(func() bool { return hasOwnSources(ctx, dir, s) })
	return f, err
}

// exists reports whether an app has a file or a folder, and follows no link out of the app.
func exists(dir, path string) bool {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close()
	_, err = root.Stat(path)
	return err == nil
}

// scan is the analysis of an app by several analyzers.
type scan struct {
	analyzers []analyzer.Analyzer
	scans     []analyzer.Scan // in the order of analyzers
	files     *target.Files   // files with build targets
	logf      tree.Logf

	mu     sync.Mutex
	faulty []string // files on which an analyzer failed
}

func newScan(analyzers []analyzer.Analyzer, logf tree.Logf) *scan {
	s := &scan{analyzers: analyzers, logf: logf}
	var toolchains []target.Toolchain
	for _, a := range analyzers {
		s.scans = append(s.scans, a.NewScan())
		toolchains = append(toolchains, a.Language().Toolchain)
	}
	s.files = target.NewFiles(toolchains...)
	return s
}

// required reports whether an analyzer or s.files requires a file.
func (s *scan) required(path string) bool {
	for _, a := range s.analyzers {
		if a.Required(path) {
			return true
		}
	}
	return s.files.Required(path)
}

func (s *scan) visit(f *tree.File) {
	if s.files.Required(f.Path) {
		s.leftOut(f, s.files.Visit(f))
	}
	for i, a := range s.analyzers {
		if a.Required(f.Path) {
			s.leftOut(f, s.analyze(s.scans[i], f))
		}
	}
}

// analyze has a file analyzed. A fault of the analyzer costs the findings of the file, not the user's build.
func (s *scan) analyze(of analyzer.Scan, f *tree.File) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("leaving out the file, by a fault of this buildpack: %v", fault)
			s.mu.Lock()
			defer s.mu.Unlock()
			s.faulty = append(s.faulty, f.Path)
		}
	}()
	return of.Analyze(f)
}

// faults returns a line about the files left out by faults of analyzers, if any.
func (s *scan) faults() []string {
	if len(s.faulty) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("files left out by a fault of this buildpack: %d, the first one %s; report it with "+
		"what BP_LOG_LEVEL=DEBUG prints", len(s.faulty), plan.Printable(slices.Min(s.faulty)))}
}

// waits reports whether a file waited for another file to prove a server, and a file did.
func (s *scan) waits(path string) bool {
	return slices.ContainsFunc(s.scans, func(of analyzer.Scan) bool { return of.Waits(path) })
}

// visitWaiting passes a file to the analyzers that wait for the file.
func (s *scan) visitWaiting(f *tree.File) {
	for _, of := range s.scans {
		if of.Waits(f.Path) {
			s.leftOut(f, s.analyze(of, f))
		}
	}
}

// leftOut logs that a file was left out, in whole or in part.
func (s *scan) leftOut(f *tree.File, err error) {
	if err != nil {
		s.logf("%s: %s", plan.Printable(f.Path), plan.Printable(err.Error()))
	}
}
