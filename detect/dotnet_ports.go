package detect

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// dotnetDeclared takes `const int Port = 5000;`, `var url = "http://*:5000";`, `int port = Port;`, `let port = 5000`,
// `Const Port As Integer = 5000`.
var dotnetDeclared = regexp.MustCompile(`\b(?P<name>\w+)(?:\s*:\s*\w+|\s+As\s+\w+)?\s*=\s*`)

// dotnetListening are the calls that name addresses: Kestrel's, Grpc.Core's, and Saturn's.
var dotnetListening = regexp.MustCompile(
	dotnetReceiver + `(?P<call>ListenAnyIP|ListenLocalhost|ListenUnixSocket|ListenHandle|ListenNamedPipe|Listen|UseUrls|Urls\s*\.\s*Add|Run|RunAsync)\s*\(|` +
		`\b(?:ServerPort|Ports\s*\.\s*Add)\s*\(|(?m:^\s*listen_local\s+(?P<number>\d+))`)

// listener is an address, as Kestrel takes them.
type listener struct {
	port  int
	http1 bool // it is for HTTP/1 alone
	http2 bool // it is for HTTP/2 alone
}

// dotnetListeners takes the ports that a source names.
func (s *source) dotnetListeners() []sign {
	var signs []sign
	var kestrel []listener
	listening := dotnetListening.FindAllSubmatchIndex(s.code, 256)
	if len(listening) == 0 {
		return nil
	}
	v := s.values(";,\n", dotnetDeclared)
	for _, m := range listening {
		args, _ := s.arguments(m[1])
		if call, ok := s.group(dotnetListening, m, "call"); ok {
			kestrel = append(kestrel, v.kestrel(call, args)...)
		} else if number, ok := s.group(dotnetListening, m, "number"); ok {
			kestrel = append(kestrel, listener{port: statedPort(number), http2: true})
		} else if len(args) > 1 {
			signs = append(signs, sign{kind: listens, port: v.port(span{args[0].from, args[1].to})})
		}
	}
	return append(signs, listenerSigns(kestrel)...)
}

// kestrel returns what one call makes Kestrel listen on.
func (v *values) kestrel(call string, args []span) []listener {
	address := args[0]
	if address.from == address.to {
		return nil
	}
	port := noPort
	switch call {
	case "ListenAnyIP", "ListenLocalhost":
		port = v.port(address)
	case "Listen":
		// Sockets and TcpListeners have a Listen too.
		end, ok := v.endpoint(args)
		if !ok {
			return nil
		}
		port = v.port(end)
	case "Run", "RunAsync":
		// A delegate may be run too.
		if port = v.port(address); port == noPort {
			return nil
		}
	case "ListenUnixSocket", "ListenHandle", "ListenNamedPipe":
	default:
		if len(args) == 1 {
			port = v.port(address)
		}
	}
	options := string(v.code[address.from:args[len(args)-1].to])
	http2 := strings.Contains(options, "HttpProtocols.Http2")
	http1 := strings.Contains(options, "HttpProtocols.Http1") && !strings.Contains(options, "HttpProtocols.Http1And")
	return []listener{{port, http1 && !http2, http2}}
}

var dotnetEndPoint = regexp.MustCompile(`^new\s+(?:\w+\.)*IPEndPoint\s*\(`)

// endpoint returns address and port of Listen(IPAddress.Any, 5000, ...) and Listen(new IPEndPoint(IPAddress.Any, 5000)).
func (v *values) endpoint(args []span) (span, bool) {
	if m := dotnetEndPoint.FindIndex(v.code[args[0].from:args[0].to]); m != nil {
		args, _ = v.arguments(args[0].from + m[1])
	}
	if len(args) < 2 || !strings.Contains(string(v.code[args[0].from:args[0].to]), "IPAddress") {
		return span{}, false
	}
	return span{args[0].from, args[1].to}, true
}

// listenerSigns are the ports that may be gRPC's, which is HTTP/2.
func listenerSigns(all []listener) []sign {
	if slices.ContainsFunc(all, func(l listener) bool { return l.http2 }) {
		all = slices.DeleteFunc(all, func(l listener) bool { return !l.http2 })
	}
	var signs []sign
	for _, l := range all {
		if !l.http1 {
			signs = append(signs, sign{kind: dotnetKestrel, port: l.port})
		}
	}
	return signs
}

// urlsPort returns the port of ASP.NET Core's URLs, which are separated by semicolons; noPort for several.
func urlsPort(urls string) int {
	return statedPort(withoutScheme(urls))
}

var (
	// .NET's JSON settings may hold comments and trailing commas (Microsoft.Extensions.Configuration.Json).
	jsonComment = regexp.MustCompile(`(?s)"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/`)
	jsonComma   = regexp.MustCompile(`"(?:\\.|[^"\\])*"|,\s*[}\]]`)
)

func plainJSON(text []byte) []byte {
	text = jsonComment.ReplaceAllFunc(trimBOM(text), func(m []byte) []byte {
		if m[0] == '"' {
			return m
		}
		return []byte(" ")
	})
	return jsonComma.ReplaceAllFunc(text, func(m []byte) []byte {
		if m[0] == '"' {
			return m
		}
		return m[len(m)-1:]
	})
}

// dotnetSettingsFile takes the ports of an appsettings.json; a nil value where it names none.
func dotnetSettingsFile(text []byte) (*sheet, error) {
	var settings struct {
		URLs    string
		Kestrel struct {
			Endpoints map[string]struct{ URL, Protocols string }
		}
	}
	if err := json.Unmarshal(plainJSON(text), &settings); err != nil {
		return nil, fmt.Errorf("leaving out settings that are not JSON: %w", err)
	}
	var all []listener
	for _, endpoint := range settings.Kestrel.Endpoints {
		all = append(all, listener{urlsPort(endpoint.URL), endpoint.Protocols == "Http1", endpoint.Protocols == "Http2"})
	}
	if len(all) == 0 && settings.URLs != "" {
		all = []listener{{port: urlsPort(settings.URLs)}}
	}
	signs := listenerSigns(all)
	if len(signs) == 0 {
		return nil, nil
	}
	return &sheet{signs: signs}, nil
}
