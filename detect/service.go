package detect

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Health says whether a server answers grpc.health.v1.Health/Check. The zero value is: not known.
type Health string

// The values of Health, as they stand in the build plan and in the image's label.
const (
	HealthRegistered Health = "registered" // the app registers the service
	HealthAutomatic  Health = "automatic"  // the app's framework does, unasked
	HealthMissing    Health = "missing"    // nobody does: every probe would exit 3
)

// Place is where something is written: a path in the app, with slashes, and a line that counts from 1; line 0 is the
// whole file.
type Place struct {
	Path string
	Line int
}

// String returns path:line, or the path alone for line 0, quoted where it has anything a terminal or a TOML file should
// not be given raw; "" for the zero value.
func (p Place) String() string {
	if p.Line == 0 {
		if strings.Contains(p.Path, ":") {
			return strconv.QuoteToASCII(p.Path) // or its end would read as a line
		}
		return printable(p.Path)
	}
	return printable(p.Path) + ":" + strconv.Itoa(p.Line)
}

// Service is one gRPC server that an app holds.
type Service struct {
	Language  string // "go"
	Framework string // "grpc-go"
	Evidence  Place  // the line that makes the server
	Built     bool   // found in a built program, not in sources
	Health    Health
	// HealthEvidence is the line that registers the health service, where one does.
	HealthEvidence Place
	// Port is the TCP port that the source states plainly; 0 where it states none.
	Port int
}

// The keys of the plan entry's metadata.
const (
	keyLanguage       = "language"
	keyFramework      = "framework"
	keyEvidence       = "evidence"
	keyHealth         = "health"
	keyHealthEvidence = "health_evidence"
	keyPort           = "port"
)

// Metadata returns the service as metadata of the plan entry: TOML strings, and an integer for the port. What is not
// known has no key.
func (s Service) Metadata() map[string]any {
	metadata := map[string]any{}
	for key, text := range map[string]string{
		keyLanguage: s.Language, keyFramework: s.Framework, keyHealth: string(s.Health),
		keyEvidence: s.Evidence.String(), keyHealthEvidence: s.HealthEvidence.String(),
	} {
		if text != "" {
			metadata[key] = text
		}
	}
	if s.Port != 0 {
		metadata[keyPort] = int64(s.Port)
	}
	return metadata
}

// ServiceFromMetadata is Metadata's inverse. Any buildpack may have written the entry: what is not of the right type or
// range counts as not known, and no text comes back that is unfit to print.
func ServiceFromMetadata(metadata map[string]any) Service {
	text := func(key string) string {
		s, _ := metadata[key].(string)
		return s
	}
	s := Service{
		Language:       printable(text(keyLanguage)),
		Framework:      printable(text(keyFramework)),
		Evidence:       placeFrom(text(keyEvidence)),
		HealthEvidence: placeFrom(text(keyHealthEvidence)),
	}
	s.Built = s.Evidence.Path != "" && s.Evidence.Line == 0
	switch h := Health(text(keyHealth)); h {
	case HealthRegistered, HealthAutomatic, HealthMissing:
		s.Health = h
	}
	if port, ok := metadata[keyPort].(int64); ok && port > 0 && port <= 65535 {
		s.Port = int(port)
	}
	return s
}

// placeFrom is Place.String's inverse.
func placeFrom(text string) Place {
	path, line := text, 0
	if i := strings.LastIndexByte(text, ':'); i > strings.LastIndexByte(text, '"') {
		if n, err := strconv.Atoi(text[i+1:]); err == nil && n > 0 {
			path, line = text[:i], n
		}
	}
	if strings.HasPrefix(path, `"`) {
		if raw, err := strconv.Unquote(path); err == nil {
			path = raw
		}
	}
	return Place{path, line}
}

// HealthWarning says what a missing health service means, and what to write to have it, in the service's own language; ""
// where health is not missing or the language is not known.
func (s Service) HealthWarning() string {
	if s.Health != HealthMissing {
		return ""
	}
	l, _ := languageNamed(s.Language)
	if i := slices.IndexFunc(l.frameworks, func(f framework) bool { return f.name == s.Framework }); i >= 0 {
		return "every probe will exit 3 until the app registers grpc.health.v1.Health: " + l.frameworks[i].advice
	}
	return ""
}

// String describes the service in one line for people.
func (s Service) String() string {
	_, title := languageNamed(s.Language)
	what := fmt.Sprintf("%s, %s (%s); health service ", title, s.Framework, s.Evidence)
	switch s.Health {
	case HealthRegistered:
		return what + fmt.Sprintf("registered (%s)", s.HealthEvidence)
	case HealthAutomatic:
		return what + "registered by " + s.Framework
	case HealthMissing:
		return what + "not registered"
	default:
		return what + "not known"
	}
}

// printable returns text as it is where it is short, UTF-8, and of printable characters only, and quoted in Go's way
// otherwise: names in an app are anybody's.
func printable(text string) string {
	plain := len(text) <= maxText && utf8.ValidString(text) && !strings.HasPrefix(text, `"`) &&
		strings.IndexFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
	if plain {
		return text
	}
	return strconv.QuoteToASCII(text[:min(len(text), maxText)])
}
