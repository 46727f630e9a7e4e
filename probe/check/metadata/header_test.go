package metadata

import (
	"slices"
	"testing"
)

func TestValuesHaveNoControlCharacters(t *testing.T) {
	t.Parallel()
	for value, is := range map[string]struct{ text, field bool }{
		"":             {true, true},
		"a b~!":        {true, true},
		"a\tb":         {false, true},
		"caf\u00e9":    {false, true},
		"a\nb":         {false, false},
		"a\x1fb":       {false, false},
		"a\x7fb":       {false, false},
		"\x00":         {false, false},
		"\xff\xfe\x80": {false, true},
	} {
		if text, field := IsText(value), IsFieldValue(value); text != is.text || field != is.field {
			t.Errorf("%q: text %t, value of a field %t, want %t, %t", value, text, field, is.text, is.field)
		}
	}
}

func TestCredentialsAreKnownByTheirNames(t *testing.T) {
	t.Parallel()
	headers := []Header{{Name: "x-tenant"}, {Name: "accept"}, {Name: "host"}, {Name: "x-request-id"}}
	want := []string{
		"authorization", "proxy-authorization", "x-api-key", "x_api_key", "apikey", "x-auth-token-bin", "cookie",
		"x-goog-iam-authorization-token", "x-client-secret", "password",
	}
	for _, name := range want {
		headers = append(headers, Header{Name: name}, Header{Name: name})
	}
	if got := Credentials(headers); !slices.Equal(got, want) {
		t.Errorf("credentials are in %q, want %q", got, want)
	}
}
