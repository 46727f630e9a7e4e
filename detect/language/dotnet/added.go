package dotnet

import (
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// A program may add a file of settings by its name: builder.Configuration.AddJsonFile("hosting.json"). It goes before
// appsettings.json, and before environment variables and arguments too, because it is added after them
// (Microsoft.AspNetCore.Builder, WebApplicationBuilder; Microsoft.Extensions.Hosting, HostingHostBuilderExtensions).

var (
	// addedPaths matches the paths of files that programs usually add. Tools have settings of their own, which no
	// program adds.
	addedPaths = lazyregexp.New(`(?i)(?:setting|config|host|server|kestrel|grpc|endpoint)[^/]*\.json$`)
	toolPaths  = lazyregexp.New(`(?i)(?:^|/)(?:wwwroot/|(?:launchsettings|[tj]sconfig[^/]*|package[^/]*)\.json$)|` +
		`\.runtimeconfig(?:\.template)?\.json$`)
	// addedFile is a call that adds a file in the program's folder.
	addedFile = lazyregexp.New(`^AddJsonFile\s*\(\s*(?:path\s*:\s*)?"(?:\./)?(?P<file>\w[\w./-]*\.json)"\s*[,)]?`)
	// otherBuilder makes settings that are not the program's, or that its own go before. ownAgain adds the usual files
	// once more.
	otherBuilder = lazyregexp.New(`\bnew\s+ConfigurationBuilder\b|\bConfigureHostConfiguration\b`)
	ownAgain     = lazyregexp.New(`\bAddJsonFile\s*\(\s*\$?"appsettings\.`)
)

func isAddedSettings(file string) bool {
	isOwn := slices.Contains(settingsFiles, path.Base(file))
	return addedPaths.MatchString(file) && !toolPaths.MatchString(file) && !isOwn
}

// nameAdded says of what replaces settings which file it adds, if it is one that is always added, and the last one.
func nameAdded(names func() *address.Names, t *source.Text, found []finding.Finding) []finding.Finding {
	for i, f := range found {
		of, isOne := f.(settingsReplaced)
		at := finding.Offset(f)
		if !isOne || !addedFile.Match(t.Raw[at:]) || t.Matches(otherBuilder) || ownAgain.Match(t.Raw[at+1:]) {
			continue
		}
		if d := names(); len(d.Conditions(at, 0)) == 0 && len(d.Left(at)) == 0 {
			of.file = string(addedFile.FindSubmatch(t.Raw[at:])[1])
			found[i] = of
		}
	}
	return found
}

// addSettings leaves out the files of settings that no program adds, and what replaces the settings of a program if it
// is such a file alone. What the Procfile gives would not go before it.
func addSettings(files []analyzer.File[extra]) []analyzer.File[extra] {
	added := map[string]string{} // the folders of the programs, by the files that they add
	if !slices.ContainsFunc(files, func(f analyzer.File[extra]) bool { return f.Processes != nil }) {
		added = addedTo(files)
	}
	var kept []analyzer.File[extra]
	for _, f := range files {
		switch folder, isAdded := added[f.Path]; {
		case f.Extra.isAdded && !isAdded:
			continue
		case f.Extra.isAdded:
			f.Extra.addedTo = folder
			f.Findings = slices.Clone(f.Findings)
			for i, of := range f.Findings {
				if e, ok := of.(endpoint); ok {
					e.addedTo, e.address.Givers = folder, nil
					f.Findings[i] = e
				}
			}
		default:
			f.Findings = slices.DeleteFunc(slices.Clone(f.Findings), func(of finding.Finding) bool {
				replaced, ok := of.(settingsReplaced)
				return ok && replaced.file != "" && added[path.Join(programOf(files, f.Path), replaced.file)] != ""
			})
		}
		kept = append(kept, f)
	}
	return kept
}

// addedTo returns the folders of the programs to which nothing but one file of settings is added, by that file. It is
// published with the programs of the SDK for the web alone (Microsoft.NET.Sdk.Web.DefaultItems.props).
func addedTo(files []analyzer.File[extra]) map[string]string {
	adds := map[string][]string{} // by the folders of the programs
	for _, f := range files {
		for of := range finding.All[settingsReplaced](f.Findings) {
			program := programOf(files, f.Path)
			adds[program] = append(adds[program], of.file)
		}
	}
	all := map[string]string{}
	for _, f := range files {
		p := f.Extra.project
		program := path.Dir(f.Path)
		if p == nil || !p.isWeb || len(adds[program]) != 1 || adds[program][0] == "" {
			continue
		}
		file := path.Join(program, adds[program][0])
		isIt := func(f analyzer.File[extra]) bool { return f.Path == file && f.Extra.isAdded && !hasURLs(f) }
		if slices.ContainsFunc(files, isIt) {
			all[file] = program
		}
	}
	return all
}

// hasURLs reports whether settings have the URLs of the server, which some hosts read before a file is added.
func hasURLs(f analyzer.File[extra]) bool {
	return slices.ContainsFunc(f.Findings, func(f finding.Finding) bool {
		e, ok := f.(endpoint)
		return ok && e.isURL
	})
}

// programOf returns the folder of the innermost project around a file.
func programOf(files []analyzer.File[extra], file string) string {
	program := ""
	for _, f := range files {
		dir := path.Dir(f.Path)
		if f.Extra.project != nil && len(dir) >= len(program) && (dir == "." || strings.HasPrefix(file, dir+"/")) {
			program = dir
		}
	}
	return program
}

// precedence says which settings go before others of the same key: those of a file that the program adds before those
// of Production, and these before the others.
func precedence(file, addedTo string) int {
	switch {
	case addedTo != "":
		return 2
	case path.Base(file) == productionSettings:
		return 1
	}
	return 0
}
