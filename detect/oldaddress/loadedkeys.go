package address

import (
	"bytes"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// chain reads the keys that follow settings.
type chain struct {
	x           expression
	to          int
	isFlat      bool // one call takes the section and the key
	isAttribute bool // the last link is an attribute
	keys        []string
	isUnclear   bool
	other       source.Span
}

var (
	// element is a key in brackets, attribute one after a dot, and getter a call that takes keys.
	element = lazyregexp.New(`^!?\s*(?:\?\.)?\[\s*(?:["'](?P<quoted> *)["']|:(?P<symbol>\w+)|` +
		`(?P<number>\d+))\s*\]`)
	attribute = lazyregexp.New(`^!?\s*[?&]?\.(?P<name>[A-Za-z_]\w*)`)
	keyGetter = lazyregexp.New(`^!?\s*[?&]?\.(?P<name>get|getint|getfloat|fetch|dig)\(`)
	keyText   = lazyregexp.New(`^(?:["'](.*)["']|:(\w+))$`)
	// sameKeys is a method that changes none of the keys, or the form of a value alone.
	sameKeys = lazyregexp.New(`^\s*\.(?:freeze|dup|to_h|to_hash|to_s|to_i|with_indifferent_access|` +
		`(?:deep_)?(?:symbolize|stringify)_keys!?)\b(?:\(\))?`)
	named = lazyregexp.New(`^(?:fallback|default)\s*=\s*`)
)

// link reads the next key, and reports whether there is one.
func (c *chain) link() bool {
	c.to += len(sameKeys.Find(c.x.code[c.to:]))
	rest := c.x.code[c.to:]
	c.isAttribute = false
	if m := keyGetter.FindSubmatchIndex(rest); m != nil {
		c.get(m[1])
		return true
	}
	if m := element.FindSubmatchIndex(rest); m != nil {
		key := "[" + string(rest[max(m[6], 0):max(m[7], 0)]) + "]"
		for g := 2; g < 6; g += 2 {
			if m[g] >= 0 {
				key = string(c.x.raw[c.to+m[g] : c.to+m[g+1]])
			}
		}
		c.add(key)
		c.to += m[1]
		return true
	}
	m := attribute.FindSubmatchIndex(rest)
	if m == nil || m[1] < len(rest) && rest[m[1]] == '(' {
		c.isUnclear = c.isUnclear || len(rest) > 0 && rest[0] == '['
		return false
	}
	c.add(string(rest[m[2]:m[3]]))
	c.isAttribute = true
	c.to += m[1]
	return true
}

// add adds a key. What had a default before has none as a whole.
func (c *chain) add(key string) {
	if c.other = (source.Span{}); strings.HasPrefix(key, "[") && len(c.keys) > 0 {
		c.keys[len(c.keys)-1] += key
		return
	}
	c.keys = append(c.keys, key)
}

// get reads a call with keys, whose arguments begin after some bytes.
func (c *chain) get(after int) {
	isDig := bytes.Contains(c.x.code[c.to:c.to+after], []byte("dig"))
	arguments, to := c.x.arguments(c.to + after)
	keys := 0
	other := source.Span{}
	for i, a := range arguments {
		m := keyText.FindSubmatch(a.raw)
		isKey := m != nil && (i == 0 || isDig || c.isFlat && i == 1)
		if isKey {
			c.add(string(m[1]) + string(m[2]))
			keys++
		} else if i > 0 {
			at := a.at - c.x.at
			if m := named.FindIndex(a.code); m != nil {
				at += m[1]
			}
			other = source.Span{From: at, To: a.at - c.x.at + len(a.code)}
		}
	}
	c.isUnclear = c.isUnclear || keys == 0
	c.other, c.to = other, to
}
