package address

import (
	"slices"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// environment matches code with the name of an environment variable in one of the groups: os.environ.get("PORT"),
// ENV.fetch("PORT"), env::var("PORT"), System.getenv().get("PORT"), $_ENV['PORT'], lookupEnv "PORT", env = "PORT",
// process.env.PORT; and settings in capitals, which NestJS's ConfigService, Python's decouple and .NET's configuration
// take from the environment: config.get<number>('PORT'), config("PORT"), Configuration["PORT"].
var environment = lazyregexp.New(`(?i:\b\w*env(?:iron(?:ment)?|y)?(?:variable)?[!?]?)` +
	`(?:(?:\s*\.\s*|::|->)\w+[!?]?|\(\s*\))*\s*(?:[(\[{]|=\s)?\s*["']([A-Za-z_]\w*)["']|` +
	`\b(?i:env)\.([A-Z_][A-Z0-9_]*)\b|` +
	`\b(?:(?i:\w*config(?:service)?)(?:\.get\w*)?(?:<[^()]*>)?\(|` +
	`_?[cC]onfig(?:uration)?\.Get\w+(?:<[^()]*>)?\(|Configuration\.?[\[(])\s*["']([A-Z][A-Z0-9_]*)["']`)

// maxVariables bounds the environment variables of an expression.
const maxVariables = 16

// Variables returns the names of the environment variables in code.
func Variables(code []byte) []string {
	var names []string
	for _, m := range environment.FindAllSubmatch(code, maxVariables) {
		names = append(names, string(m[1])+string(m[2])+string(m[3]))
	}
	return names
}

// variableNames match the names of environment variables with an address, the surest first.
var variableNames = []*lazyregexp.Regexp{
	lazyregexp.New(`(?i)port$`), lazyregexp.New(`(?i)port|addr|listen|bind|endpoint|url|uri`),
}

// oneVariable returns the environment variable that holds an address, "" for none or for several equally sure names.
func oneVariable(asked []string) string {
	for _, pattern := range variableNames {
		var named []string
		for _, name := range asked {
			if pattern.MatchString(name) && !slices.Contains(named, name) {
				named = append(named, name)
			}
		}
		switch len(named) {
		case 0:
			continue
		case 1:
			return named[0]
		}
		return ""
	}
	return ""
}

// maxSet bounds the variables of one file .env.
const maxSet = 500

// EnvironmentFile returns the environment variables with an address in a file .env, for a project that loads the file.
// The environment of the process goes before the file, so each address is a default.
func EnvironmentFile(text []byte) map[string]Address {
	all := map[string]Address{}
	for _, s := range untrusted.ReadLines(source.TrimBOM(text)) {
		a := Setting(s.Value, s.Line)
		if a.Certainty != Unknown && variableNames[1].MatchString(s.Key) && len(all) < maxSet {
			all[s.Key] = ByDefault(a, s.Key)
		}
	}
	return all
}
