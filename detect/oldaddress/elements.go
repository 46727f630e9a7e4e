package address

import (
	"bytes"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Elements is how a language writes the elements of hashes, which are read by key: the other numbers in a hash are none
// of an element.
type Elements struct {
	Read       *lazyregexp.Regexp // a use of one, as [Names.Keyed] has it
	Literal    *lazyregexp.Regexp // a hash that the group "name" gets, up to its first element
	Key        *lazyregexp.Regexp // the group "key" of an element, up to its value
	Assignment *lazyregexp.Regexp // of an element, by the groups "name" and "key", up to its value
}

// fillsHash are what gives a hash elements that the text does not name: options.update(data), options[name] = value.
var fillsHash = []*lazyregexp.Regexp{
	lazyregexp.New(`\b(?P<name>[A-Za-z_]\w*)\.(?:update|merge!|deep_merge!)\(`),
	lazyregexp.New(`\b(?P<name>[A-Za-z_]\w*)(?:\[\s*[A-Za-z_][\w.]*\s*\]\s*|\s*\|)=`),
}

// DeclareElements declares the elements of the hashes in the text.
func (d *Names) DeclareElements(of Elements) {
	d.Keyed(of.Read)
	for _, pattern := range fillsHash {
		for _, m := range d.FindAll(pattern, MaxListeners) {
			if !bytes.HasPrefix(d.Code[m[1]:], []byte("=")) {
				hash, _ := d.Group(pattern, m, "name")
				d.filledHashes = append(d.filledHashes, hash)
			}
		}
	}
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
