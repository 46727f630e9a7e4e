package jvm

import "github.com/grpc-cnb/health-probe/detect/source"

// grammars are the syntax of comments and strings, by the extension of the file (chapter 3 of the Java Language
// Specification, the lexical syntax of Kotlin, Scala and Groovy).
var grammars = map[string]source.Grammar{
	".java": javaGrammar, ".kt": kotlinGrammar, ".scala": scalaGrammar,
	".gradle": groovyGrammar, ".kts": kotlinGrammar, ".sbt": scalaGrammar,
}

var (
	lineComment   = source.LineComment("//")
	blockComment  = source.BlockComment("/*", "*/", false)
	nestedComment = source.BlockComment("/*", "*/", true)
	character     = source.String("'", "'", source.Quoting{})
)

var (
	javaGrammar = source.Grammar{
		lineComment, blockComment,
		source.String(`"""`, `"""`, source.Quoting{Multiline: true}),
		source.String(`"`, `"`, source.Quoting{}), character,
	}
	kotlinGrammar = source.Grammar{
		lineComment, nestedComment,
		source.String(`"""`, `"""`, source.Quoting{Multiline: true, Raw: true, Embeds: "${"}),
		source.String(`"`, `"`, source.Quoting{Embeds: "${"}), character,
	}
	scalaGrammar = source.Grammar{
		lineComment, nestedComment,
		scalaString(`"""`, true, source.Quoting{Multiline: true, Raw: true, Embeds: "${"}),
		scalaString(`"`, true, source.Quoting{Embeds: "${"}),
		scalaString(`"""`, false, source.Quoting{Multiline: true, Raw: true}),
		scalaString(`"`, false, source.Quoting{}),
		{Open: "'", Starts: isScalaCharacter, End: character.End},
	}
	groovyGrammar = source.Grammar{
		lineComment, blockComment,
		source.String(`"""`, `"""`, source.Quoting{Multiline: true}),
		source.String("'''", "'''", source.Quoting{Multiline: true}),
		source.String(`"`, `"`, source.Quoting{}), character,
	}
)

// scalaString is a string of Scala. An interpolated string follows a letter, as in s"${code}".
func scalaString(quote string, interpolated bool, q source.Quoting) source.Lexeme {
	l := source.String(quote, quote, q)
	l.Starts = func(text []byte, at int) bool { return interpolated == (at > 0 && isLetter(text[at-1])) }
	return l
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// isScalaCharacter reports whether a quote begins a character, as in 'c', and not a symbol ('name) or the final quote
// of a name.
func isScalaCharacter(text []byte, at int) bool {
	rest := text[at+1:]
	return len(rest) > 1 && (rest[0] == '\\' || rest[1] == '\'' || rest[0] >= 0x80)
}
