package address

import (
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Scoping is what a language says of its names, beside the patterns that declare them: what they are in other files,
// what gives them a value when the app runs, and how its code is read. Its zero value is that of a language in which no
// name reaches across files.
type Scoping struct {
	// Global returns what a name that the text does not declare may be in other files, the zero Name for nothing; nil
	// for a language in which none is anything there.
	Global func(u Use) Name
	// FieldOf returns the name, ".Type.field", of the field that a dotted name stands for, "" if its type is not known;
	// nil for a language that declares fields without their types.
	FieldOf func(dotted string) string
	// TypeAt returns the type whose functions are defined at an offset, "" for none; nil for a language whose functions
	// are declared without their types.
	TypeAt func(at int) string
	// CallsModules says that a dot also stands between a module and its function, which Global then tells from a
	// method.
	CallsModules bool
	// Placeholder matches what a string reads by a key, in the group "key", and its default, in the group "default":
	// grpc.port:9090 in "${grpc.port:9090}". nil for a language in which that is code.
	Placeholder *lazyregexp.Regexp
	// GivenBy returns what may give a name when the process starts, beside its flags, as [Value] has it; nil for
	// nothing.
	GivenBy func(name string) []string
	// KeyAt returns a key as the settings have it, from how a span of the text reads it; nil for a language in which
	// that is the same.
	KeyAt func(key string, read source.Span) string
	// Modifier matches what follows a statement that runs on a condition, with its word: if a or unless a in Ruby; nil
	// for a language that writes conditions before.
	Modifier *lazyregexp.Regexp
	// Holds reports whether a condition holds in every image; nil for a language in which none is known to.
	Holds func(c Condition) bool
	// AddsNumbers says that a + between a name and a number adds numbers: the name never stands for a text.
	AddsNumbers bool
	// ReadsSettings says that sources of the language read settings from files, by their paths.
	ReadsSettings bool
	// Imported returns what a name is imported as that may have the settings in a file, the zero Name for none; nil for
	// a language in which none is.
	Imported func(dotted string) Name
}
