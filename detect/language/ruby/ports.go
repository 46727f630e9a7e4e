package ruby

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// addressCall is a call, with brackets or without, or an assignment that says where a server listens: on the first
	// argument, or on what is assigned.
	addressCall = lazyregexp.New(`\.[ \t]*add_http2_port[ \t]*(?:(?P<open>\()|[ \t](?P<bare>[^\n,]*))|` +
		`\b(?:server_binding_url|rpc_host)[ \t]*=[ \t]*(?P<assigned>[^\n]*)`)
	// griffinPort is the setting of griffin in its configure block, and griffinServer what makes other settings of that
	// name griffin's.
	griffinPort = lazyregexp.New(`\b\w+\.port[ \t(]+(?P<port>\d+|[A-Z][^\n]*)`)
	griffinRun  = lazyregexp.New(`\bGriffin::Server\s*\.\s*run\(`)
	// kitServer is in sources with a server of grpc_kit, which is given the connections of a socket.
	kitServer     = lazyregexp.New(`\bGrpcKit::Server\b`)
	tcpServer     = lazyregexp.New(`\bTCPServer\s*\.\s*(?:new|open)\(`)
	griffinServer = lazyregexp.New(`\bGriffin::Server\b`)

	// assignment is PORT = 50051 or @port ||= 50051, also behind another statement or a condition.
	assignment = lazyregexp.New(
		`(?m)(?:^|;|\bthen\b|[{o][ \t]*\|[\w, ]*\||(?:&&|\|\||\band\b|\bor\b)[ \t]*\(?)[ \t]*` +
			`(?P<name>@{0,2}[A-Za-z_]\w*)[ \t]*(?:\|\|)?=[ \t]*`)
)

// elements are those of hashes: options[:port].
var elements = address.Elements{
	Read:       lazyregexp.New(`\b(?P<key>\w+)(?:\[:(?P<key2>\w+)\]|\.fetch\(:(?P<key3>\w+)\))`),
	Literal:    lazyregexp.New(`(?m)^[ \t]*(?P<name>\w+)[ \t]*=[ \t]*\{`),
	Key:        lazyregexp.New(`^(?::(?P<key>\w+)\s*=>|(?P<key>\w+):)\s*`),
	Assignment: lazyregexp.New(`\b(?P<name>\w+)\[:(?P<key>\w+)\][ \t]*(?:\|\|)?=[ \t]*`),
}

var (
	// method is a method that may return a setting, up to its body, and endlessMethod one with a single expression.
	method        = lazyregexp.New(`(?m)^[ \t]*def[ \t]+(?:self\.)?(?P<name>\w+)[ \t]*(?:\(\))?[ \t]*\n\s*`)
	endlessMethod = lazyregexp.New(`(?m)^[ \t]*def[ \t]+(?:self\.)?(?P<name>\w+)[ \t]*(?:\(\))?[ \t]*=[ \t]*`)
	// setsFields gives an object fields that the source does not name: send("#{name}=", value).
	setsFields = lazyregexp.New(`\b(?:(?:public_)?send|__send__)\b[\s(]+:?"[^"\n]*="|` +
		`\binstance_variable_set\b[\s(]+(?::?"[^"\n]*#\{|[a-z_])`)
	constant = lazyregexp.New(`(?m)^[ \t]*(?P<name>[A-Z]\w*)[ \t]*=[ \t]*`)
)

// fromOutside is in a value that the environment or the command line gives.
var fromOutside = lazyregexp.New(`\bENV\b|\bARGV\b|\boptions\b`)

// maxSettings is how many settings of one file are kept.
const maxSettings = 100

// modifier is a condition behind its statement.
var modifier = lazyregexp.New(`^[^;\n]*[^;\n\s=(]\s+(?P<word>if|unless)\s+(?P<condition>[^;\n]*\S)`)

// namesIn returns the names in a source.
func namesIn(t *source.Text) *address.Names {
	names := address.Read(t, "\n", assignment, endlessMethod)
	names.Global, names.Modifier, names.ReadsSettings = global, modifier, true
	names.Imported = loadedElsewhere
	for _, m := range t.FindAll(method, -1) {
		name, _ := t.Group(method, m, "name")
		names.Declare(name, source.Span{From: m[1], To: t.Until(m[1], "\n")})
	}
	names.DeleteUnclear(func(name, value string) bool {
		return !fromOutside.MatchString(value) && !address.UsesName(value, name)
	})
	if setsFields.Match(t.Raw) {
		names.DeleteFunc(func(name string) bool { return strings.HasPrefix(name, "@") })
	}
	declareConstructors(names)
	declareFlags(names)
	names.DeclareElements(elements)
	return names
}

var (
	// optionElement and optionVariable are options of OptionParser whose blocks set an element of a hash or a variable,
	// and optionCall is any of them.
	optionElement = lazyregexp.New(optionHead +
		`(?:\{|do)\s*\|[ \t]*(?P<value>\w+)[ \t]*\|\s*(?P<key>\w+\[:\w+\])[ \t]*=[^=]`)
	optionVariable = lazyregexp.New(optionHead +
		`(?:\{|do)\s*\|[ \t]*(?P<value>\w+)[ \t]*\|\s*(?P<name>@?\w+)[ \t]*=[^=]`)
	optionCall = lazyregexp.New(optionHead)
	// intoHash is the hash that takes the options without blocks.
	intoHash = lazyregexp.New(`\binto:\s*(?P<hash>\w+)`)
	longFlag = lazyregexp.New(`--(?:\[no-\])?([\w-]+)`)
)

const optionHead = `\.on(?:\(|[ \t])\s*(?P<flags>["'][^{}|\n]{0,200}?)\)?[ \t]*`

// declareFlags says which flags of OptionParser give the elements of hashes and variables.
func declareFlags(names *address.Names) {
	for _, m := range names.FindAll(optionElement, maxSettings) {
		element, _ := names.Group(optionElement, m, "key")
		flags, _ := names.Group(optionElement, m, "flags")
		hash, key, _ := strings.Cut(strings.TrimSuffix(element, "]"), "[:")
		names.DeclareFlags(address.Key(hash+"."+key), address.FlagsIn(flags)...)
	}
	names.ReadFlags(optionVariable)
	for _, into := range names.FindAll(intoHash, 1) {
		hash, _ := names.Group(intoHash, into, "hash")
		for _, m := range names.FindAll(optionCall, maxSettings) {
			flags := string(names.Raw[m[2]:names.Until(m[2], "\n")])
			if long := longFlag.FindStringSubmatch(flags); long != nil {
				names.DeclareFlags(address.Key(hash+"."+long[1]), address.FlagsIn(flags)...)
			}
		}
	}
}

// listeners returns the addresses that the servers of a source listen on.
func listeners(names *address.Names) []finding.Finding {
	var found []finding.Finding
	for _, m := range names.FindAll(addressCall, address.MaxListeners) {
		found = append(found, finding.ListenerAt(names.Value(addressOf(names.Text, m))))
	}
	if griffinServer.Match(names.Code) {
		found = append(found, griffinListeners(names)...)
	}
	if kitServer.Match(names.Code) {
		found = append(found, socketListeners(names)...)
	}
	return found
}

// socketListeners returns the addresses of sockets: TCPServer.new("localhost", 50051), or the port alone.
func socketListeners(names *address.Names) []finding.Finding {
	var found []finding.Finding
	for _, m := range names.FindAll(tcpServer, address.MaxListeners) {
		each, _ := names.Arguments(m[1])
		v := names.Value(each[len(each)-1])
		if v.Host = address.AllInterfaces; len(each) > 1 {
			v.Host = names.Host(each[0])
		}
		found = append(found, finding.ListenerAt(v))
	}
	return found
}

// griffinListeners returns the ports of the servers of griffin: those that run is given replace those of the configure
// block (lib/griffin/server.rb).
func griffinListeners(names *address.Names) []finding.Finding {
	var found []finding.Finding
	for _, m := range names.FindAll(griffinRun, address.MaxListeners) {
		if port, ok := names.Argument(m[1], -1, "port"); ok {
			found = append(found, finding.ListenerAt(names.Value(port)))
		}
	}
	if found != nil {
		return found
	}
	for _, m := range names.FindAll(griffinPort, address.MaxListeners) {
		found = append(found, finding.ListenerAt(names.Value(source.Span{From: m[2], To: m[3]})))
	}
	return found
}

// global returns what a name that the source does not declare may be in other files: a constant, or the settings of the
// gem config.
func global(u address.Use) address.Name {
	name := u.Dotted
	if root, _, _ := strings.Cut(name, "."); root != "Settings" {
		name = name[strings.LastIndexByte(name, ':')+1:]
		name, _, _ = strings.Cut(name, ".")
	}
	if name == "" || name == "ENV" || name[0] < 'A' || name[0] > 'Z' {
		return address.Name{}
	}
	return address.Name{Path: name}
}

// loadedElsewhere returns what a constant is in the source that declares it, which stands for a module.
func loadedElsewhere(dotted string) address.Name {
	name := dotted[strings.LastIndexByte(dotted, ':')+1:]
	if name == "" || name == "ENV" || name[0] < 'A' || name[0] > 'Z' || strings.Contains(name, ".") {
		return address.Name{}
	}
	return address.Name{Module: name, Path: name}
}

// declaringFile returns what finds the source that declares a constant, if there is one alone.
func declaringFile(files []analyzer.File[stub]) func(from, name string) string {
	declares := map[string]string{}
	for _, f := range files {
		for _, d := range f.Declares {
			if of, ok := declares[d.Name]; ok && of != f.Path {
				declares[d.Name] = ""
			} else {
				declares[d.Name] = f.Path
			}
		}
	}
	return func(_, name string) string { return declares[name] }
}

var (
	class       = lazyregexp.New(`(?m)^[ \t]*class[ \t]+(?:\w+::)*(?P<name>[A-Z]\w*)`)
	constructor = lazyregexp.New(`(?m)^[ \t]*def[ \t]+initialize[ \t]*\(`)
	// parameterHead is a parameter, by its number or by its name, up to its default if it has one.
	parameterHead = lazyregexp.New(`^(\w+)[ \t]*(?::|=)?[ \t]*`)
	construction  = lazyregexp.New(`\b(?:\w+::)*(?P<name>[A-Z]\w*)\.new\(`)
	// constructionAlone has no arguments, and no brackets for them.
	constructionAlone = lazyregexp.New(`\b(?:\w+::)*(?P<name>[A-Z]\w*)\.new(?:$|[.\n])`)
)

// declareConstructors declares the parameters of constructors, which calls of new in any source give something.
func declareConstructors(names *address.Names) {
	classes := names.FindAll(class, maxSettings)
	for _, m := range names.FindAll(constructor, maxSettings) {
		for len(classes) > 1 && classes[1][0] < m[0] {
			classes = classes[1:]
		}
		if len(classes) == 0 || classes[0][0] > m[0] {
			continue
		}
		parameters, list := names.Parameters(m[1], parameterHead)
		names.DeclareCallable(address.Callable{
			Name: string(names.Code[classes[0][2]:classes[0][3]]), At: m[1], Parameters: parameters,
			Body: source.Span{From: list.From, To: names.BodyEnd(list.To)},
		})
	}
}

// given returns what a source gives to the constructors of other sources.
func given(names *address.Names) []address.Declaration {
	all := names.Given(construction, func(class string) string { return class })
	for _, m := range names.FindAll(constructionAlone, address.MaxListeners) {
		class, _ := names.Group(constructionAlone, m, "name")
		all = append(all, names.Declaration(address.ArgumentName(class, ""), source.Span{From: m[1], To: m[1]}))
	}
	return all
}

// constants returns the constants of the source that state an address, or the variable that has it, for other sources.
func constants(names *address.Names) []address.Declaration {
	var found []address.Declaration
	for _, m := range names.FindAll(constant, -1) {
		name, _ := names.Group(constant, m, "name")
		value := source.Span{From: m[1], To: names.Until(m[1], "\n")}
		d := names.Variable(name, value)
		isKnown := d.Certainty != address.Unknown || d.Variable != "" || names.IsLoaded(name, value)
		if isKnown && len(found) < maxSettings {
			found = append(found, d)
		}
	}
	return found
}

// addressOf returns the expression that a match of the pattern addressCall has for its address.
func addressOf(t *source.Text, match []int) source.Span {
	open, bare, assigned := match[2:4], match[4:6], match[6:8]
	switch {
	case open[0] >= 0:
		first, _ := t.Argument(open[1], 0)
		return first
	case bare[0] >= 0:
		return source.Span{From: bare[0], To: bare[1]}
	default:
		return source.Span{From: assigned[0], To: assigned[1]}
	}
}
