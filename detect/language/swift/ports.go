package swift

import (
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	// listenCall is a call or an argument with the address to listen on.
	listenCall = lazyregexp.New(`\.\s*bind\s*\(|\baddress\s*:\s*\.\w+\s*\(|` +
		`\bServer\.Configuration(?:\.default)?\s*\(`)
	hostAndPort  = lazyregexp.New(`\.hostAndPort\s*\((?P<host>[^,()]*),\s*`)
	hostArgument = lazyregexp.New(`\bhost\s*:\s*`)
	portArgument = lazyregexp.New(`\bport\s*:\s*`)
	socket       = lazyregexp.New(`\bunixDomainSocket(?:Path)?\s*[:(]\s*(?:path\s*:\s*)?`)
	vsock        = lazyregexp.New(`(?i)vsock`)
	// binding is a name that a condition binds, which ends where the condition does, and declaration any other one.
	binding = lazyregexp.New(`\b(?:if|guard|while)\s+(?:let|var)\s+(?P<name>\w+)\s*(?::\s*[\w.]+\??\s*)?=\s*` +
		`(?P<value>(?:[^{}(),\n]|\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\))+)`)
	declaration = lazyregexp.New(`\b(?:if|guard|while)\s+(?:let|var)\s+\w+|` +
		`\b(?:let|var)\s+(?P<name>\w+)\s*(?::\s*[\w.]+\??\s*)?=\s*`)
	// assignment is another value of a variable.
	// inOut is an argument that a call may set.
	inOut      = lazyregexp.New(`[(,:]\s*&(?P<name>[a-z_]\w*)\s*[,)]`)
	assignment = lazyregexp.New(`(?m)(?:^|[;)]|\{\s)\s*(?P<name>\w+)\s*=\s*`)
)

// argument is an argument with a label, which is the name of the parameter in the function that is called. One that is
// a name alone is declared elsewhere.
var argument = lazyregexp.New(`[(,]\s*(?P<name>\w*[pP]ort)\s*:\s*(?P<value>\d+|\w+\s*[.?\[(][^,\n]*)`)

// namesIn returns the names that a source declares.
func namesIn(t *source.Text) *address.Names {
	names := readNames(t)
	declareFlags(names)
	return names
}

// readNames reads the names that a source declares, by further patterns too.
func readNames(t *source.Text, further ...*lazyregexp.Regexp) *address.Names {
	names := address.Read(t, "\n;,", append(further, declaration, binding, assignment)...)
	names.AssignOuter()
	names.DeclareReferences(inOut, nil)
	return names
}

var (
	// option is the attribute of a property that the command line gives (swift-argument-parser), and optionProperty
	// the property after it.
	option         = lazyregexp.New(`@Option\b(\()?`)
	optionProperty = lazyregexp.New(`^\)?\s*(?:@\w+\s*)*(?:\w+\s+)*?var\s+(\w+)`)
	customName     = lazyregexp.New(`\.custom(?:Long|Short)\s*\(\s*"([\w-]+)"`)
	ownName        = lazyregexp.New(`\bname\s*:`)
	shortName      = lazyregexp.New(`\.short`)
	longName       = lazyregexp.New(`\.(?:long\b|shortAndLong\b)`)
)

// maxOptions is how many options of a text are read, and maxProperty how many bytes after one its property has.
const (
	maxOptions  = 64
	maxProperty = 200
)

// declareFlags says which flags of the command line give the properties of a command. An option without a name has that
// of its property.
func declareFlags(names *address.Names) {
	for _, m := range names.FindAll(option, maxOptions) {
		all := source.Span{From: m[1], To: m[1]}
		if m[2] >= 0 {
			_, all = names.Arguments(m[1])
		}
		property := optionProperty.FindSubmatch(names.Code[all.To:min(len(names.Code), all.To+maxProperty)])
		if property == nil {
			continue
		}
		name, described := string(property[1]), string(names.Raw[all.From:all.To])
		var flags []string
		for _, custom := range customName.FindAllStringSubmatch(described, maxOptions) {
			flags = append(flags, custom[1])
		}
		if shortName.MatchString(described) {
			flags = append(flags, name[:1])
		}
		if longName.MatchString(described) || !ownName.MatchString(described) {
			flags = append(flags, address.Hyphenated(name))
		}
		names.DeclareFlags(name, flags...)
		names.DeclareFlags("."+name, flags...)
	}
}

// listeners returns the addresses that a text listens on. One that no declaration states may be a parameter: then it is
// what the calls in the text give it.
func listeners(t *source.Text, servers []finding.Server) []finding.Finding {
	declared := namesIn(t)
	declared.Global = global
	declareFunctions(declared)
	var withArguments *address.Names
	var found []finding.Finding
	for _, m := range t.FindAll(listenCall, address.MaxListeners) {
		v := listened(declared, m)
		if v.Certainty == address.Unknown && v.Variable == "" {
			if withArguments == nil {
				withArguments = readNames(t, argument)
				withArguments.Global = global
			}
			if given := listened(withArguments, m); given.Certainty != address.Unknown || len(v.Names) == 0 {
				v = given
			}
		}
		found = append(found, finding.ListenerAt(v))
	}
	return append(found, security(declared, servers)...)
}

// listened returns the address that a call states: on a Unix domain socket, or by a host and a port. A vsock is no
// address of the container.
func listened(names *address.Names, call []int) address.Value {
	whole := source.Span{From: call[0], To: names.Until(call[1], "")}
	code, raw := names.Code[whole.From:whole.To], whole.From
	if m := socket.FindIndex(code); m != nil {
		return names.SocketAt(source.Span{From: raw + m[1], To: names.Until(raw+m[1], ",")})
	}
	var host, port source.Span
	if m := hostAndPort.FindSubmatchIndex(code); m != nil {
		host = source.Span{From: raw + m[2], To: raw + m[3]}
		port = source.Span{From: raw + m[1], To: names.Until(raw+m[1], ",")}
	} else if m := portArgument.FindIndex(code); m != nil {
		port = source.Span{From: raw + m[1], To: names.Until(raw+m[1], ",")}
		if m := hostArgument.FindIndex(code); m != nil {
			host = source.Span{From: raw + m[1], To: names.Until(raw+m[1], ",")}
		}
	}
	if port == (source.Span{}) || vsock.Match(code) {
		return names.Nothing(call[1])
	}
	return names.ValueOn(host, port)
}
