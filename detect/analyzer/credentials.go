package analyzer

import (
	"cmp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Credentials are how the code of a language, or of a framework, says what carries the calls of a server. The patterns
// are matched against code, in which the contents of strings are blank.
type Credentials struct {
	// Plaintext and TLS match what makes credentials without TLS and with it. What follows TLS is the arguments of a
	// call. A TLS that is nil stands for whatever the server is given.
	Plaintext, TLS *lazyregexp.Regexp
	// Requires matches what makes TLS require a client certificate, and Optional what makes it do without one.
	Requires, Optional *lazyregexp.Regexp
	// Asks reports whether the arguments of a call that TLS matches, from their offset, require a client certificate.
	Asks func(t *source.Text, arguments int) bool
}

// Stated is what a part of a text, at an offset, says of the security of a server.
type Stated struct {
	At   int
	Says plan.Security
}

// maxCredentials is how many expressions are followed to the credentials of one server.
const maxCredentials = 32

// maxConditional is how many bytes of an expression are searched for its branches.
const maxConditional = 2000

// In returns what an expression states of the security, once for each of the credentials that it may have for its
// value. The transport of those that cannot be followed is not known.
func (c Credentials) In(names *address.Names, s source.Span) []Stated {
	f := followed{Credentials: c, names: names, seen: map[int]bool{}, left: maxCredentials}
	if f.follow(s); f.stated == nil {
		return []Stated{{At: s.From}}
	}
	return f.stated
}

// followed is what was found of the credentials of one server.
type followed struct {
	Credentials
	names  *address.Names
	seen   map[int]bool
	left   int // how many expressions may still be followed
	stated []Stated
}

// credentialsName is a name in an expression for credentials, with the bracket of a call.
var credentialsName = lazyregexp.New(`[A-Za-z_$@][\w$]*(?:(?:\.|::|->)[\w$]+)*(?P<call>\()?`)

// follow looks for credentials in an expression or else in what its names stand for.
func (f *followed) follow(s source.Span) {
	if f.left--; f.left < 0 || f.seen[s.From] {
		return
	}
	code, before := f.names.Code[s.From:s.To], len(f.stated)
	if _, first, second, ok := address.Branches(code[:min(len(code), maxConditional)]); ok {
		f.branch(source.Span{From: s.From + first.From, To: s.From + first.To})
		f.branch(source.Span{From: s.From + second.From, To: s.From + second.To})
		return
	}
	f.seen[s.From] = true
	for _, m := range f.TLS.FindAllIndex(code, maxCredentials) {
		f.stated = append(f.stated, Stated{s.From + m[0], f.tls(s.From + m[1])})
	}
	for _, m := range f.Plaintext.FindAllIndex(code, maxCredentials) {
		f.stated = append(f.stated, Stated{s.From + m[0], plan.Security{Transport: plan.Plaintext}})
	}
	if len(f.stated) > before {
		if beforeDefault.Match(code) {
			f.stated = append(f.stated, Stated{At: s.From}) // what goes before a default
		}
		return
	}
	for _, m := range credentialsName.FindAllSubmatchIndex(code, maxCredentials) {
		name := address.Path(strings.TrimPrefix(string(code[m[0]:m[1]]), "$"))
		values := f.names.Values(name, s.From)
		if m[2] >= 0 {
			values = append(f.names.Values(name+")", s.From), f.names.Values(strings.TrimSuffix(name, "("), s.From)...)
		}
		f.followAll(strings.TrimSuffix(name, "("), values)
		if m[2] >= 0 && len(f.stated) > before {
			return // the arguments of the function are none
		}
	}
}

// followAll follows the values of a name. If one of several says nothing, the security is not known, whatever the
// others say.
func (f *followed) followAll(name string, values []source.Span) {
	before := len(f.stated)
	var unknown []Stated
	for _, v := range values {
		says, isSeen := len(f.stated), f.seen[v.From]
		if f.follow(v); len(f.stated) == says && !isSeen && isUnclear(f.names, name, v) {
			unknown = append(unknown, Stated{At: v.From})
		}
	}
	if len(f.stated) > before {
		f.stated = append(f.stated, unknown...)
	}
}

// isUnclear reports whether a value of a name is something, and not made of what the name had before.
func isUnclear(names *address.Names, name string, value source.Span) bool {
	code := names.Slice(names.Trim(value))
	return code != "" && code != name && !nothing.MatchString(code) && !address.UsesName(code, name)
}

// tls returns what a call says that makes credentials with TLS, from the offset of its arguments.
func (f *followed) tls(arguments int) plan.Security {
	says := Certificates(f.names.Text)
	if f.Asks != nil && f.Asks(f.names.Text, arguments) || f.Requires != nil && f.names.Matches(f.Requires) {
		says.Transport = plan.MutualTLS
		return says
	}
	says.Authority = "" // clients show none, or whether they do is not known
	return says
}

// beforeDefault is a name whose default follows: options.credentials || ServerCredentials.createInsecure().
var beforeDefault = lazyregexp.New(`^[\w$.@:>()\[\]-]+\s*(?:\|\||\?\?|\bor\b)`)

// nothing is the branch of an expression that is no credentials.
var nothing = lazyregexp.New(`^\(?\s*(?:None|null|nil|undefined)\b`)

// branch follows one branch of an expression.
func (f *followed) branch(s source.Span) {
	if before := len(f.stated); !nothing.Match(f.names.Code[s.From:s.To]) {
		if f.follow(s); len(f.stated) == before {
			f.stated = append(f.stated, Stated{At: s.From})
		}
	}
}

// Security returns what all statements about the security of one server say together. If they differ, a condition
// decides, and the transport is what holds if its setting is not set; it is not known if that is not plain.
func Security(names *address.Names, stated []Stated) plan.Security {
	var all plan.Security
	differ := false
	for i, s := range stated {
		if s.Says.Place.Line == 0 {
			s.Says.Place.Line = names.Line(s.At)
		}
		if i == 0 {
			all = s.Says
			continue
		}
		differ = differ || s.Says.Transport != all.Transport
		all.Setting = cmp.Or(all.Setting, s.Says.Setting)
		all.Certificate = cmp.Or(all.Certificate, s.Says.Certificate)
		all.Authority = cmp.Or(all.Authority, s.Says.Authority)
	}
	if differ {
		all.Transport, all.Setting = decide(names, stated)
	}
	return all
}

// decide returns the statement that holds if nothing is set, and the setting that decides. What lies outside of
// conditions holds if nothing else does.
func decide(names *address.Names, stated []Stated) (plan.Transport, string) {
	conditions := make([][]address.Condition, len(stated))
	count := map[address.Condition]int{}
	for i, s := range stated {
		conditions[i] = names.Conditions(s.At, 0)
		for _, c := range conditions[i] {
			count[c]++
		}
	}
	setting := ""
	var holds, otherwise []plan.Transport
	for i, s := range stated {
		all, isOpen := isTrue, true
		for _, c := range conditions[i] {
			if count[c] == len(stated) {
				continue // it decides whether there is a server
			}
			by, value := byDefault(names, c)
			setting, all, isOpen = cmp.Or(by, setting), all.and(value), false
		}
		switch {
		case isOpen:
			otherwise = append(otherwise, s.Says.Transport)
		case all == isTrue:
			holds = append(holds, s.Says.Transport)
		case all == notKnown:
			return plan.UnknownTransport, setting
		}
	}
	switch {
	case len(holds) == 1:
		return holds[0], setting
	case len(holds) == 0 && len(otherwise) == 1:
		return otherwise[0], setting
	}
	return plan.UnknownTransport, setting
}

// StatedSecurity returns the finding of what all statements about the security of a server say together. The site of
// the server is nil if it is the one of the package.
func StatedSecurity(names *address.Names, stated []Stated, of *finding.Site) finding.Security {
	says := Security(names, stated)
	at := &finding.Site{Place: says.Place}
	says.Place = plan.Place{}
	return finding.Security{Site: at, Says: says, Of: of}
}

// Of returns what the credentials in a span are. They are followed within the text. If they are made or given on a
// condition that does not hold for the code at the offset of the server too, they are not known, and the condition is
// the setting.
func (c Credentials) Of(names *address.Names, given source.Span, server int) plan.Security {
	reached := names.Reach(given)
	in := func(pattern *lazyregexp.Regexp) []source.Span { return matching(names, reached, pattern) }
	plaintext, tls := in(c.Plaintext), in(c.TLS)
	if c.TLS == nil {
		tls = []source.Span{given}
	}
	var says plan.Security
	var conditions []source.Span
	for _, s := range slices.Concat(tls, plaintext) {
		conditions = append(conditions, names.ConditionsAround(s.From, server)...)
	}
	switch {
	case len(tls)+len(plaintext) == 0:
	case c.hasOther(names, given):
		says.Setting = Setting(names, conditions)
	case len(tls) > 0 && len(plaintext) > 0:
		says.Setting = Setting(names, append(conditions, given))
	case len(conditions) > 0:
		says.Setting = Setting(names, conditions)
	case len(plaintext) > 0:
		says.Transport = plan.Plaintext
	default:
		c.reachedTLS(&says, names, reached, in)
	}
	return says
}

// hasOther reports whether credentials, in a span, are a name that also gets others, of which nothing is known.
func (c Credentials) hasOther(names *address.Names, given source.Span) bool {
	name := names.Slice(names.Trim(given))
	values := names.Values(name, given.From)
	if !isName.MatchString(name) || len(values) < 2 {
		return false
	}
	return slices.ContainsFunc(values, func(v source.Span) bool {
		reached := names.Reach(v)
		return len(matching(names, reached, c.TLS))+len(matching(names, reached, c.Plaintext)) == 0 &&
			isUnclear(names, name, v)
	})
}

// matching returns where a pattern matches in spans, in each of them once.
func matching(names *address.Names, spans []source.Span, pattern *lazyregexp.Regexp) []source.Span {
	var found []source.Span
	for _, s := range spans {
		if pattern == nil {
			break
		}
		if m := pattern.FindStringIndex(names.Slice(s)); m != nil {
			found = append(found, source.Span{From: s.From + m[0], To: s.From + m[1]})
		}
	}
	return found
}

// reachedTLS adds what is known of credentials that are TLS. If a client certificate is asked for on a condition, that
// they are TLS is all that is known.
func (c Credentials) reachedTLS(
	says *plan.Security, names *address.Names, reached []source.Span, in func(p *lazyregexp.Regexp) []source.Span,
) {
	says.Transport = plan.TLS
	requires := in(c.Requires)
	isConditional := func(s source.Span) bool { return len(names.ConditionsAround(s.From, reached[0].From)) > 0 }
	if len(requires) > 0 && len(in(c.Optional)) == 0 && !slices.ContainsFunc(requires, isConditional) {
		says.Transport = plan.MutualTLS
	}
	says.Certificate, says.Authority = certificates(names.Strings(reached))
	if says.Transport != plan.MutualTLS {
		says.Authority = ""
	}
}
