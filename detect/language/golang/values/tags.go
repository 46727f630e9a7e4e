package values

import (
	"cmp"
	"go/ast"
	"reflect"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// tagKeys are the keys of the tags that hold a default: those of envconfig and creasty/defaults, caarlos0/env,
// cleanenv, and viper with mapstructure.
var tagKeys = []string{"default", "envDefault", "env-default"}

// optionDefault is a default among the options of a tag: those of sethvargo/go-envconfig (env:"PORT,default=8080"),
// of ardanlabs/conf (conf:"default:8080"), of go-zero (json:",default=8080"), of kong (kong:"default='8080'") and of
// vrischmann/envconfig (envconfig:"PORT,default=8080").
var optionDefault = lazyregexp.New(
	`\b(?:env|envconfig|conf|json|yaml|config|flag|cfg|kong):"[^"]*?\bdefault[=:]\s*(?:'([^"']+)'|([^",]+)[",])`)

// required is in a tag of a field that is always set, or the program ends: those of envconfig, caarlos0/env and
// go-flags.
var required = lazyregexp.New(`\brequired:"(?:true|yes)"|\b(?:env|conf):"[^"]*,\s*(?:required|notEmpty)\b`)

// tagged returns what a field gets by its tag, which names the setting that replaces it.
func tagged(in *Source, field *ast.Field, setting string) []expression {
	if field.Tag == nil {
		return nil
	}
	at := expression{Expr: field.Tag, in: in}.place()
	if text, ok := tagDefault(field); ok {
		return []expression{{constant: &value{text: text, at: at, setting: cmp.Or(setting, "a setting")}}}
	}
	if required.MatchString(field.Tag.Value) {
		return []expression{{constant: &value{at: at, setting: setting}, gets: always}}
	}
	if setting != "" {
		return []expression{{constant: &value{at: at, setting: setting}}}
	}
	return nil
}

// tagDefault returns the default that the tag of a field states.
func tagDefault(field *ast.Field) (string, bool) {
	tag, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return "", false
	}
	for _, key := range tagKeys {
		if text, ok := reflect.StructTag(tag).Lookup(key); ok {
			return text, len(text) <= maxConstant
		}
	}
	if m := optionDefault.FindStringSubmatch(tag); m != nil {
		return m[1] + m[2], len(m[0]) <= maxConstant
	}
	return "", false
}

// fieldKey returns the key from which a field is filled: that of its tag, or its name. It is "" if tags leave the field
// out, by the key -.
func fieldKey(field *ast.Field, name string) string {
	if field.Tag == nil {
		return name
	}
	tag, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return name
	}
	for _, key := range []string{"mapstructure", "koanf", "yaml", "json", "toml"} {
		switch of, _, _ := strings.Cut(reflect.StructTag(tag).Get(key), ","); of {
		case "":
		case "-":
			name = ""
		default:
			return of
		}
	}
	return name
}
