package python

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// listenerCall is a call that says where a server listens.
type listenerCall struct {
	call *lazyregexp.Regexp
	// module has to occur in the code, if there is one: the name of the call alone could be anybody's.
	module *lazyregexp.Regexp
	// position is the number, from 0, of the argument that holds the address or the port; -1 if only its name is
	// allowed.
	position int
	// keyword is the name of the same argument.
	keyword string
	// host is the name of the argument before it, which is the host; "" for none.
	host string
}

// flightServer is the class that a server of Arrow Flight is a subclass of.
var flightServer = lazyregexp.New(`\bFlightServerBase\b`)

var listenerCalls = []listenerCall{
	{lazyregexp.New(`\.\s*add_(?:in)?secure_port\s*\(`), nil, 0, "address", ""},
	{lazyregexp.New(`\.\s*start\s*\(`), lazyregexp.New(`\bgrpclib\.server\b`), 1, "port", "host"},
	{lazyregexp.New(`\bServer\s*\(`), lazyregexp.New(`\bpurerpc\b`), 0, "port", ""},
	{lazyregexp.New(`\.\s*run\s*\(`), lazyregexp.New(`\bdapr\.ext\.grpc\b`), 0, "app_port", ""},
	{lazyregexp.New(`\bgRPCOptions\s*\(`), lazyregexp.New(`\bray\b`), 0, "port", ""},
	{lazyregexp.New(`\bstart_server\s*\(`), lazyregexp.New(`\bflwr\b`), -1, "server_address", ""},
	{lazyregexp.New(`\bsuper\s*\([^()]*\)\s*\.\s*__init__\s*\(`), flightServer, 0, "location", ""},
	{lazyregexp.New(`\bFlightServerBase\s*\.\s*__init__\s*\(`), flightServer, 1, "location", ""},
	{lazyregexp.New(`\bModelServer\s*\(`), lazyregexp.New(`\bkserve\b`), 1, "grpc_port", ""},
}

// listeners returns the addresses that the servers of a source listen on.
func listeners(t *source.Text, names func() *address.Names, servers *servers) []finding.Finding {
	var found []finding.Finding
	for _, l := range listenerCalls {
		calls := t.FindAll(l.call, address.MaxListeners)
		if len(calls) > 0 && l.module != nil && !t.Matches(l.module) {
			continue
		}
		for _, m := range calls {
			servers.each(m[0], func(of *finding.Site) {
				if v, where, ok := l.value(t, m[1], names); ok {
					at := finding.At(t, source.Span{From: m[0], To: m[1]}).Quiet()
					address := withAttributes(names(), where, v)
					found = append(found, finding.Listener{Site: at, Address: address, Of: of})
				}
			})
		}
	}
	return found
}

// value returns the address that the arguments of a call state, from their offset.
func (l listenerCall) value(
	t *source.Text, from int, names func() *address.Names,
) (v address.Value, where source.Span, ok bool) {
	if path, ok := t.Argument(from, -1, "path"); ok && l.host != "" {
		return names().SocketAt(path), path, true
	}
	if where, ok = t.Argument(from, l.position, l.keyword); !ok {
		return v, where, false
	}
	v = names().Value(where)
	if host, ok := t.Argument(from, l.position-1, l.host); ok && l.host != "" && v.Host == address.UnknownHost {
		v.Host = names().Host(host)
	}
	return v, where, true
}

var (
	// setsAttribute sets an attribute of something that a name stands for, and attributeUsed is the use of one.
	setsAttribute = lazyregexp.New(
		`(?m)^[ \t]*(?P<name>(?:\w+\.)+(?i:\w*(?:port|addr|bind|listen|endpoint|url)\w*))[ \t]*=[ \t]*[^=\s]`)
	attributeUsed = lazyregexp.New(`\b[A-Za-z_]\w*(?:\.\w+)+`)
)

// withAttributes returns the value of an address, if the source also sets an attribute that it is made of, such as
// config.port: what the environment gives that has the value for its default, and else it is not known which one holds.
func withAttributes(names *address.Names, where source.Span, v address.Value) address.Value {
	set := names.FindAll(setsAttribute, address.MaxListeners)
	if len(set) == 0 {
		return v
	}
	used := map[string]bool{}
	for _, s := range names.Reach(where) {
		for _, name := range attributeUsed.FindAllString(string(names.Raw[s.From:s.To]), maxOptions) {
			used[name] = !strings.HasPrefix(name, "self.") && !strings.HasPrefix(name, "cls.")
		}
	}
	values := []address.Value{v}
	for _, m := range set {
		from := m[1] - 1
		of := names.Value(source.Span{From: from, To: names.Until(from, "\n")})
		if used[string(names.Code[m[2]:m[3]])] && of.Target() != v.Target() {
			values = append(values, of)
		}
	}
	if values = address.OneOf(values); len(values) > 1 {
		return names.Nothing(where.From)
	}
	return values[0]
}

// attributesSet returns the declarations of the attributes of what other sources declare, by the names that a source
// sets them by: config.port = 7000. One that is set on a condition is not known.
func attributesSet(t *source.Text, i imports, names func() *address.Names) []address.Declaration {
	var all []address.Declaration
	for _, m := range t.FindAll(setsAttribute, address.MaxListeners) {
		dotted := string(t.Code[m[2]:m[3]])
		root, path, _ := strings.Cut(dotted, ".")
		if i.names[root] == "" {
			continue
		}
		value := source.Span{From: m[1] - 1, To: t.Until(m[1]-1, "\n")}
		for _, c := range names().ConditionsAround(m[2], 0) {
			if !strings.Contains(t.Slice(c), "__name__") {
				value.To = value.From
			}
		}
		name := i.global(address.Use{Dotted: dotted, Path: "." + path})
		all = append(all, names().Declaration(name.Path, value))
	}
	return all
}

// global returns what a name that the source does not declare may be in other sources: a part of something, which may
// be imported, an imported name or a function.
func (i *imports) global(u address.Use) address.Name {
	first, _, _ := strings.Cut(address.Path(u.Dotted), ".")
	full := i.names[first]
	of := full[strings.LastIndexByte(full, '.')+1:]
	switch isField := strings.HasPrefix(u.Path, "."); {
	case strings.HasPrefix(u.Path, ".["):
		return address.Name{}
	case strings.HasSuffix(u.Path, ")"):
		return address.Name{Path: i.function(u.Path, full)}
	case isField && of != "":
		return address.Name{Path: "." + of + u.Path}
	case isField:
		return address.Name{Path: u.Path}
	case u.Path == first && of != "":
		return address.Name{Path: of}
	case i.wildcards != nil && strings.ToUpper(u.Path) == u.Path:
		return address.Name{Path: u.Path}
	}
	return address.Name{}
}

// function returns the name, for other files, of the function of a module, called so: "config.port()". It is "" for
// another one, by the full name of what it is reached by.
func (i *imports) function(called, full string) string {
	parts := strings.Split(full, ".")
	if last := parts[len(parts)-1]; last+"()" != called && last != "" {
		return last + "." + called
	}
	if len(parts) > 1 {
		return strings.Join(parts[len(parts)-2:], ".") + "()"
	}
	return ""
}
