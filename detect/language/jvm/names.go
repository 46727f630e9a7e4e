package jvm

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// ends are the bytes that end a declaration, by the extension of the source.
var ends = map[string]string{".java": ";", ".kt": "\n;", ".scala": "\n;"}

// typeOf is the type after the name of a number or a text.
const typeOf = `\s*(?::\s*(?:Int|Integer|String|Short|Long)\??\s*)?`

// How a name gets its value.
var (
	assignments = []*lazyregexp.Regexp{
		// int port = 1; val port: Int = 1
		lazyregexp.New(`\b(?P<name>[A-Za-z_]\w*)` + typeOf + `=\s*(?:[^=\s])??`),
		// A constant is also reached through its class.
		lazyregexp.New(`\b(?P<field>[A-Z][A-Z0-9_]*)` + typeOf + `=\s*(?:[^=\s])??`),
		// @Value("${grpc.port:1}") int port, of Spring and Micronaut, or picocli's or MicroProfile's defaultValue.
		lazyregexp.New(`@(?:[\w.]+\.)?(?:field:)?(?:Value|Option|Parameters?|ConfigProperty|Property)\s*` +
			`\((?P<value>[^()]*)\)\s*(?:@\w+\s+)*(?:\w+\s+)*?` +
			`(?:(?:int|short|Integer|String|[bB]oolean|lateinit\s+var|va[lr])\s+)(?P<name>[A-Za-z_]\w*)`),
	}
	// continued is a value that goes on in the next line, which begins with an operator.
	continued = lazyregexp.New(
		`\b(?P<name>[A-Za-z_]\w*)` + typeOf + `=(?P<value>[^=;\n][^;\n]*(?:\n\s*(?:\?[.:]|\.)[^;\n]*)+)`)
	// delegated is val port by option().int().default(1), of Clikt and kotlinx-cli.
	delegated = lazyregexp.New(`\bva[lr]\s+(?P<name>[A-Za-z_]\w*)` + typeOf + `\sby\s+`)
	// injected is a parameter that Spring or Micronaut gives in Kotlin: @Value("\${grpc.port:1}") port: Int.
	injected = lazyregexp.New(`@(?:Value|Property)\s*\((?P<value>[^()]*)\)\s*` +
		`(?P<name>[A-Za-z_]\w*)\s*:\s*(?:Int|String)\b`)
	// declarations are those that each language has, by the extension of the source.
	declarations = map[string][]*lazyregexp.Regexp{
		".java":  assignments,
		".kt":    append(assignments[:3:3], continued, delegated, injected),
		".scala": append(assignments[:3:3], continued),
	}
	// portMethod is a method with a body that returns a port.
	portMethod = lazyregexp.New(`\b(?P<name>\w*[pP]ort\w*)\s*\(\s*\)` + typeOf + `\{`)
)

// readType is the type of a setting that Kotlin reads: config.extract<Int>("grpc.port"). Scala has it in brackets.
const readType = `(?:<[\w.?<>]+>\s*)?`

// How a key of the settings is read.
var (
	settingRead = lazyregexp.New(
		`(?:^|[^.\w]|\w\.)(?:\w*[cC]onfig\w*|conf|env\w*|settings|\w*[pP]rop(?:s|erties)?)(?:\(\))?` +
			`(?:\s*\.\s*(?:load\s*\([^()]*\)|getConfig\s*\(\s*"[ ]+"\s*\)))*\s*\.\s*` +
			`(?:get\w*|as|extract|property|requireProperty)` + typeArguments + readType +
			`\(\s*"(?P<key>[ ]+)"\s*,?(?P<default>)`)
	// namedSetting is @ConfigProperty(name = "grpc.port", defaultValue = "1").
	namedSetting = lazyregexp.New(`\bname\s*=\s*"(?P<key>[ ]+)"(?P<default>)`)
	// placeholder is what stands between the braces of "${grpc.port:1}". Without a default that is code in Kotlin and
	// Scala.
	placeholder     = lazyregexp.New(`^(?P<key>[\w.-]+)(?::(?P<default>.*))?$`)
	codePlaceholder = lazyregexp.New(`^(?P<key>[\w.-]+):(?P<default>.*)$`)
)

// names are what a source declares. It is read when it is asked first: most sources declare nothing of interest.
type names struct {
	text    *source.Text
	ext     string
	read    *address.Names
	types   [][]int // where types are declared, nil if nothing asked for it yet
	fields  []field // those that other files may give another value
	lookups int     // how many objects were looked up
}

const (
	// maxValues is how many declarations of one form are looked at.
	maxValues = 1000
	// maxLookups is how many objects are looked up: each is searched for in all of the text.
	maxLookups = 8
)

func (n *names) values() *address.Names {
	if n.read != nil {
		return n.read
	}
	n.read = address.Read(n.text, ends[n.ext], declarations[n.ext]...)
	n.read.AssignOuter()
	for _, m := range n.text.FindAll(portMethod, maxMembers) {
		name, _ := n.text.Group(portMethod, m, "name")
		for _, value := range n.text.Returns(m[1]) {
			n.read.Declare(name, value)
		}
	}
	n.read.Keyed(settingRead)
	n.read.Keyed(namedSetting)
	if n.read.Placeholder = codePlaceholder; n.ext == ".java" {
		n.read.Placeholder = placeholder
	}
	n.read.Global = n.global
	n.read.KeyAt = n.keyAt
	n.declareFlags()
	n.declareParameters()
	n.declareFields()
	return n.read
}

var (
	// annotatedOption is an option of picocli, JCommander, args4j, and delegatedOption one of Clikt, kotlinx-cli.
	annotatedOption = lazyregexp.New(`@(?:[\w.]+\.)?(?:field:)?(?:Option|Parameter)\s*` +
		`\((?P<flags>[^()]*)\)\s*(?:@\w+\s+)*(?:\w+\s+)*?` +
		`(?:(?:int|short|Integer|String|lateinit\s+var|va[lr])\s+)(?P<name>[A-Za-z_]\w*)`)
	delegatedOption = lazyregexp.New(`\bva[lr]\s+(?P<name>[A-Za-z_]\w*)` + typeOf +
		`\sby\s+(?:\w+\.)?option\s*\((?P<flags>[^()]*)\)`)
	// namedFlag is a name of an option of kotlinx-cli.
	namedFlag = lazyregexp.New(`\b(?:fullName|shortName)\s*=\s*"([\w-]+)"`)
	ofArgType = lazyregexp.New(`\bArgType\b`)
)

// declareFlags says what the command line gives names by: flags that the source declares, and keys of the settings.
func (n *names) declareFlags() {
	n.read.ReadFlags(annotatedOption, delegatedOption)
	for _, m := range n.text.FindAll(delegatedOption, maxMembers) {
		name, _ := n.text.Group(delegatedOption, m, "name")
		described, _ := n.text.Group(delegatedOption, m, "flags")
		named := namedFlag.FindAllStringSubmatch(described, maxMembers)
		for _, flag := range named {
			n.read.DeclareFlags(name, flag[1])
		}
		switch hasFull := strings.Contains(described, "fullName"); {
		case ofArgType.MatchString(described) && !hasFull:
			n.read.DeclareFlags(name, name)
		case strings.TrimSpace(described) == "":
			n.read.DeclareFlags(name, address.Hyphenated(name))
		}
	}
	n.read.GivenBy = func(name string) []string {
		if key, ok := strings.CutPrefix(name, ".["); ok {
			return settingGivers(strings.TrimSuffix(key, "]"))
		}
		return nil
	}
}

// settingGivers returns what gives a setting when the process starts: an argument of Spring or Micronaut, a property of
// the virtual machine, and the environment variable that frameworks take for the key (MicroProfile Config, Spring's
// relaxed binding).
func settingGivers(key string) []string {
	if key == "" {
		return nil
	}
	variable := strings.ToUpper(strings.NewReplacer(".", "_", "-", "").Replace(key))
	return []string{address.FlagGiver(key), address.FlagGiver("D" + key), address.VariableGiver(variable)}
}

var isPortName = lazyregexp.New(`[pP](?:ort|ORT)`)

// global returns what a name is in other files: a key of the settings, a member of a class (Settings.PORT,
// Settings.getPort()), or a field of an object whose class the source names (settings.port, settings.getPort()).
func (n *names) global(u address.Use) address.Name {
	if key, ok := strings.CutPrefix(u.Path, ".["); ok {
		return settingName(strings.TrimSuffix(key, "]"))
	}
	parts := strings.Split(strings.TrimPrefix(u.Dotted, "this."), ".")
	if len(parts) < 2 || !isPortName.MatchString(parts[len(parts)-1]) {
		return address.Name{}
	}
	owner, name := parts[len(parts)-2], parts[len(parts)-1]
	if owner == "" || owner[0] >= 'A' && owner[0] <= 'Z' {
		return address.Name{Path: owner + "." + name}
	}
	if class := n.classOf(owner); class != "" {
		if getter, ok := strings.CutPrefix(name, "get"); ok && getter != "" {
			name = strings.ToLower(getter[:1]) + getter[1:]
		}
		return fieldOf(class, name)
	}
	if prefix := n.prefixOf(owner, u.At); prefix != "" {
		return settingName(prefix + "." + name)
	}
	if len(parts) > 2 && ofConfiguration.MatchString(parts[0]) {
		return settingName(strings.Join(parts[1:], "."))
	}
	if isPlaceholder := n.text.Code[u.At] == '"'; isPlaceholder {
		return settingName(u.Dotted)
	}
	return address.Name{}
}

// ofConfiguration is an object that has all settings: appConfig.grpc.port.
var ofConfiguration = source.Exactly(`(?:\w+C|c)onf(?:ig(?:uration)?)?|(?:\w+S|s)ettings`)

// settingsPrefix is the key of a part of the settings, the one string in the declaration of an object.
var settingsPrefix = source.Exactly(`[a-z][\w-]*(?:\.[\w-]+)*`)

// prefixOf returns the key of the part of the settings that an object is, "" if its declaration names none:
// config.as[Settings]("shop.grpc"), config.getConfig("shop.grpc").
func (n *names) prefixOf(object string, at int) string {
	prefix := ""
	for _, value := range n.values().Values(object, at) {
		for _, m := range anyLiteral.FindAllIndex(n.text.Code[value.From:value.To], -1) {
			text := strings.Trim(string(n.text.Raw[value.From+m[0]:value.From+m[1]]), `"`)
			if prefix != "" || !settingsPrefix.MatchString(text) {
				return ""
			}
			prefix = text
		}
	}
	return prefix
}

var anyLiteral = lazyregexp.New(`"[ ]*"`)

// classOf returns the class of an object, "" if the source does not name it.
func (n *names) classOf(object string) string {
	if n.lookups == maxLookups {
		return ""
	}
	n.lookups++
	typed := lazyregexp.New(`\b(?P<before>[A-Z]\w*)\s+` + object + `\b|\b` + object +
		`\s*(?::\s*(?P<after>[A-Z]\w*)|=\s*(?:new\s+)?(?:[a-z]\w*\.)*(?P<made>[A-Z]\w*)\s*[(<]|` +
		`=\s*new\s+(?P<made>[A-Z]\w*)\s*\n)`)
	for _, m := range n.text.FindAll(typed, 1) {
		before, _ := n.text.Group(typed, m, "before")
		after, _ := n.text.Group(typed, m, "after")
		made, _ := n.text.Group(typed, m, "made")
		return before + after + made
	}
	return ""
}

// settingName is the name of a key of the settings. A program has its settings for itself.
func settingName(key string) address.Name { return address.Name{Path: "." + normalize(key)} }

// fieldOf is the name of a field whose value an object of settings has.
func fieldOf(class, field string) address.Name { return address.Name{Path: "@" + class + "." + field} }
