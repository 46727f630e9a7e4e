package dotnet

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// settingsReplaced is what gives a program settings that are not read here and go before those in its appsettings.json:
// a file of another name, a store, its own code. What is set last counts (Microsoft.Extensions.Configuration).
type settingsReplaced struct {
	*finding.Site
	file string // a file in the program's folder that is added by its name, "" for anything else
}

func replacesSettings(at *finding.Site, _ string) finding.Finding { return settingsReplaced{Site: at} }

// unless returns the Make of what replaces the settings, if its code does not match.
func unless(code *lazyregexp.Regexp) finding.Make {
	return func(at *finding.Site, found string) finding.Finding {
		if code.MatchString(found) {
			return nil
		}
		return settingsReplaced{Site: at}
	}
}

var (
	// ownSettings are the files that are read here, and those of an environment. otherSettings are those of Ocelot's
	// routes and of loggers, which say nothing of Kestrel.
	ownSettings   = lazyregexp.New(`"appsettings\.(?:json"|Production\.json"|\{|%s|")`)
	otherSettings = lazyregexp.New(ownSettings.String() +
		`|(?i)"(?:[^"]*/)?(?:ocelot|serilog|nlog|logging)\b[^"/]*\.json"`)
	listenKey = lazyregexp.New(`(?i)url|port|endpoint|kestrel`)
)

var replacements = []analyzer.Rule{
	{
		Code: lazyregexp.New(receiver + `(?P<at>Add(?:Json|Ini|Xml|Yaml|Toml)File\s*` +
			`\((?:[^;()]|\((?:[^;()]|\([^;()]*\))*\))*)`),
		Proves: unless(otherSettings),
	},
	{
		Code: lazyregexp.New(receiver + `(?P<at>Add(?:InMemoryCollection|AzureAppConfiguration|ConfigServer|` +
			`SystemsManager|VaultConfiguration|Nacos\w*\b|Apollo\b|Consul\s*\(\s*\$?"))`),
		Proves: replacesSettings,
	},
	{
		Code:    lazyregexp.New(`\b\w*[cC]onfig(?:uration)?\s*\[\s*"(?P<literal>[ ]+)"\s*\]\s*=[^=]`),
		Literal: listenKey, Proves: replacesSettings,
	},
	{
		Code: lazyregexp.New(
			`\b(?:UseSetting|SetEnvironmentVariable)\s*\(\s*(?:"(?P<literal>[ ]+)"|WebHostDefaults\.ServerUrlsKey)`),
		Literal: listenKey, Proves: replacesSettings,
	},
	// Kestrel's own settings may be another section: options.Configure(configuration.GetSection("Web")).
	{
		Code:   lazyregexp.New(receiver + `Configure\s*\(\s*[\w.]+\.\s*GetSection\s*\(\s*(?P<at>"[ ]+")`),
		Proves: unless(source.Exactly(`"(?i:Kestrel)"`)),
	},
}

// cleared are the settings without those that ASP.NET Core reads by itself.
var cleared = []analyzer.Rule{{
	Code:   lazyregexp.New(`\b(?:Sources\s*\.\s*Clear|CreateEmptyBuilder)\s*\(`),
	Proves: replacesSettings,
}}

// replacementsIn returns what replaces the settings of a program in a source.
func replacementsIn(t *source.Text, imports []string) []finding.Finding {
	found := analyzer.Findings(t, replacements, imports)
	if !t.Mentions(ownSettings) {
		found = append(found, analyzer.Findings(t, cleared, imports)...)
	}
	return found
}

// forgetSettings makes the settings of a project unknown that it, or a library of its, replaces.
func forgetSettings(p *project, libraries []*project) {
	if !slices.ContainsFunc(append(libraries, p), analyzer.ProjectHas[settingsReplaced, extra]) {
		return
	}
	for i, f := range p.Files {
		if path.Ext(f.Path) != ".json" {
			continue
		}
		f.Declares = slices.Clone(f.Declares)
		for j, d := range f.Declares {
			f.Declares[j].Value = unknownAt(d.Value)
		}
		p.Files[i] = f
	}
	p.Decide(func(_ *analyzer.Package, f finding.Finding) []finding.Finding {
		if e, ok := f.(endpoint); ok && e.key != "" {
			e.address, e.security = unknownAt(e.address), plan.Security{}
			f = e
		}
		return []finding.Finding{f}
	})
}

// unknownAt returns a value that is not known, at the place of another one.
func unknownAt(v address.Value) address.Value {
	return address.Value{Address: address.Address{Place: v.Place}}
}
