package php

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// postAnalyze returns a server for each file that makes a server, and a server for the configurations of RoadRunner in
// a directory. In a project of RoadRunner, workers serve nothing unless a configuration has a gRPC section.
func postAnalyze(files []analyzer.File[extra], logf tree.Logf) []plan.Server {
	files = analyzer.DropUnread(files, func(f analyzer.File[extra]) bool { return f.Extra.loadsEnvironment })
	analyzer.ReplaceEnvironment(files, func(f analyzer.File[extra]) bool { return f.Extra.replacesEnvironment })
	projects := analyzer.Projects(withoutVariants(files), packageOf)
	folders := analyzer.HealthFoldersOf(files)
	configuresRoadRunner := func(f analyzer.File[extra]) bool { return f.Extra.configuresRoadRunner }
	for _, p := range projects {
		if slices.ContainsFunc(p.Files, configuresRoadRunner) && !analyzer.ProjectHas[finding.Server](p) {
			p.Drop(isWorker)
		}
		if slices.ContainsFunc(p.Files, func(f analyzer.File[extra]) bool { return f.Extra.isLibrary }) {
			p.Drop(finding.Is[finding.Implementation]) // another program serves the library's implementations
		}
		p.Decide(func(in *analyzer.Package, f finding.Finding) []finding.Finding {
			of, ok := f.(namedHealth)
			switch {
			case !ok:
				return []finding.Finding{f}
			case folders.IsOwn(in.Path):
				return nil
			}
			return []finding.Finding{finding.Health{Site: of.Site}}
		})
	}
	return analyzer.Servers(projects, logf)
}

// withoutVariants returns the files without RoadRunner's configurations for development and tests, if another
// configuration in the directory makes a server.
func withoutVariants(files []analyzer.File[extra]) []analyzer.File[extra] {
	isOf := func(f analyzer.File[extra], variant bool) bool {
		return f.Extra.configuresRoadRunner && isVariant.MatchString(path.Base(f.Path)) == variant
	}
	serves := map[string]bool{}
	for _, f := range files {
		if isOf(f, false) && finding.Has[finding.Server](f.Findings) {
			serves[path.Dir(f.Path)] = true
		}
	}
	return slices.DeleteFunc(files, func(f analyzer.File[extra]) bool {
		return isOf(f, true) && serves[path.Dir(f.Path)]
	})
}

// packageOf returns the file itself, or the same path for all configurations of RoadRunner in a directory: variants for
// one app.
func packageOf(file string) string {
	if roadRunnerConfig.MatchString(path.Base(file)) {
		return path.Join(path.Dir(file), ".rr.yaml")
	}
	return file
}

func isWorker(f finding.Finding) bool {
	return !finding.Is[finding.Server](f) && finding.FrameworkOf(f) == roadRunner
}
