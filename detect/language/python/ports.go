package python

import (
	"regexp"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// listenerCall is a call that says where a server listens.
type listenerCall struct {
	call *regexp.Regexp
	// module has to occur in the code, if there is one: the name of the call alone could be anybody's.
	module *regexp.Regexp
	// position is the number, from 0, of the argument that holds the address or the port; -1 if only its name is
	// allowed.
	position int
	// keyword is the name of the same argument.
	keyword string
	// host is the name of the argument before it, which is the host; "" for none.
	host string
}

var listenerCalls = []listenerCall{
	{regexp.MustCompile(`\.\s*add_(?:in)?secure_port\s*\(`), nil, 0, "address", ""},
	{regexp.MustCompile(`\.\s*start\s*\(`), regexp.MustCompile(`\bgrpclib\.server\b`), 1, "port", "host"},
	{regexp.MustCompile(`\bServer\s*\(`), regexp.MustCompile(`\bpurerpc\b`), 0, "port", ""},
	{regexp.MustCompile(`\.\s*run\s*\(`), regexp.MustCompile(`\bdapr\.ext\.grpc\b`), 0, "app_port", ""},
	{regexp.MustCompile(`\bgRPCOptions\s*\(`), regexp.MustCompile(`\bray\b`), 0, "port", ""},
	{regexp.MustCompile(`\bstart_server\s*\(`), regexp.MustCompile(`\bflwr\b`), -1, "server_address", ""},
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
				if v, ok := l.value(t, m[1], names); ok {
					listener := finding.ListenerAt(v)
					listener.Of = of
					found = append(found, listener)
				}
			})
		}
	}
	return found
}

// value returns the address that the arguments of a call state, from their offset.
func (l listenerCall) value(t *source.Text, from int, names func() *address.Names) (address.Value, bool) {
	if path, ok := t.Argument(from, -1, "path"); ok && l.host != "" {
		return names().SocketAt(path), true
	}
	where, ok := t.Argument(from, l.position, l.keyword)
	if !ok {
		return address.Value{}, false
	}
	v := names().Value(where)
	if host, ok := t.Argument(from, l.position-1, l.host); ok && l.host != "" && v.Host == address.UnknownHost {
		v.Host = names().Host(host)
	}
	return v, true
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
