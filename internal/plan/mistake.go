package plan

import (
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// keyMistake is the key in the plan entry's metadata.
const keyMistake = "mistake"

// MistakeMetadata returns the metadata of a plan entry with a mistake in the settings. The build phase fails with the
// mistake.
func MistakeMetadata(mistake error) map[string]any {
	return map[string]any{keyMistake: SafeError(mistake).Error()}
}

// MistakeFromMetadata returns the mistake in the metadata of a plan entry, nil for none. Any buildpack may have
// written the entry.
func MistakeFromMetadata(metadata map[string]any) error {
	text, ok := metadata[keyMistake].(string)
	if !ok || text == "" {
		return nil
	}
	return SafeError(errors.New(text[:min(len(text), maxPrintable)]))
}

var (
	// tokens matches tokens of GitHub (github.blog/engineering/behind-githubs-new-authentication-token-formats).
	tokens = lazyregexp.New(`\b(?:gh[a-z]_|github_pat_)\w{16,}`)
	// passwords matches the user and the password in a URL.
	passwords = lazyregexp.New(`://[^/@\s"]*@`)
)

// SafeError returns an error that is safe to show. A user can put a secret into the wrong setting, and an app's names
// can hold anything. SafeError hides GitHub tokens, and users and passwords in URLs, and escapes unprintable characters
// as Go does, line breaks among them. An error without any of them is returned unchanged.
func SafeError(err error) error {
	if err == nil {
		return nil
	}
	text := tokens.ReplaceAllString(err.Error(), "(a token)")
	text = passwords.ReplaceAllString(text, "://(hidden)@")
	var safe strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if isBroken := r == utf8.RuneError && size == 1; unicode.IsPrint(r) && !isBroken {
			safe.WriteString(text[:size])
		} else {
			escaped := strconv.QuoteToASCII(text[:size])
			safe.WriteString(escaped[1 : len(escaped)-1])
		}
		text = text[size:]
	}
	if safe.String() == err.Error() {
		return err
	}
	return errors.New(safe.String())
}
