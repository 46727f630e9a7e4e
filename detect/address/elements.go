package address

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/source"
)

// Elements is how a language writes the elements of hashes, which are read by key: the other numbers in a hash are none
// of an element.
type Elements struct {
	Read       *regexp.Regexp // a use of one, as [Names.Keyed] has it
	Literal    *regexp.Regexp // a hash that the group "name" gets, up to its first element
	Key        *regexp.Regexp // the group "key" of an element, up to its value
	Assignment *regexp.Regexp // of an element, by the groups "name" and "key", up to its value
}

// DeclareElements declares the elements of the hashes in the text.
func (d *Names) DeclareElements(of Elements) {
	d.Keyed(of.Read)
	for _, m := range d.FindAll(of.Literal, MaxListeners) {
		hash, _ := d.Group(of.Literal, m, "name")
		pairs, _ := d.Arguments(m[1])
		for _, pair := range pairs {
			element := source.Text{Raw: d.Raw[pair.From:pair.To], Code: d.Code[pair.From:pair.To]}
			if m := of.Key.FindSubmatchIndex(element.Code); m != nil {
				key, _ := element.Group(of.Key, m, "key")
				d.Declare(Key(hash+"."+key), source.Span{From: pair.From + m[1], To: pair.To})
			}
		}
	}
	for _, m := range d.FindAll(of.Assignment, MaxListeners) {
		hash, _ := d.Group(of.Assignment, m, "name")
		key, _ := d.Group(of.Assignment, m, "key")
		d.Declare(Key(hash+"."+key), source.Span{From: m[1], To: d.Until(m[1], "\n;")})
	}
}
