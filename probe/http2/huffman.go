package http2

import "errors"

// The Huffman code of HPACK (RFC 7541 appendix B) is canonical: the codes of one length are consecutive numbers in the
// order of the symbols, and continue after the codes that are one bit shorter. So the number of codes of each length,
// and the symbols in the order of the codes, are a complete description. A tree of 2 KB a node would cost as much as
// the rest of a probe.
const huffmanSymbols = "" +
	"012aceiost %-./3456789=A_bdfghlmnpru:BCDEFGHIJKLMNOPQRSTUVWYjkqvwxyz&*,;XZ!\x22()?'+|#>\x00$@[]~^}<`{\x5c" +
	"\xc3\xd0\x80\x82\x83\xa2\xb8\xc2\xe0\xe2\x99\xa1\xa7\xac\xb0\xb1\xb3\xd1\xd8\xd9\xe3\xe5\xe6\x81\x84\x85\x86" +
	"\x88\x92\x9a\x9c\xa0\xa3\xa4\xa9\xaa\xad\xb2\xb5\xb9\xba\xbb\xbd\xbe\xc4\xc6\xe4\xe8\xe9\x01\x87\x89\x8a\x8b" +
	"\x8c\x8d\x8f\x93\x95\x96\x97\x98\x9b\x9d\x9e\xa5\xa6\xa8\xae\xaf\xb4\xb6\xb7\xbc\xbf\xc5\xe7\xef\x09\x8e\x90" +
	"\x91\x94\x9f\xab\xce\xd7\xe1\xec\xed\xc7\xcf\xea\xeb\xc0\xc1\xc8\xc9\xca\xcd\xd2\xd5\xda\xdb\xee\xf0\xf2\xf3" +
	"\xff\xcb\xcc\xd3\xd4\xd6\xdd\xde\xdf\xf1\xf4\xf5\xf6\xf7\xf8\xfa\xfb\xfc\xfd\xfe\x02\x03\x04\x05\x06\x07\x08" +
	"\x0b\x0c\x0e\x0f\x10\x11\x12\x13\x14\x15\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f\xdc\xf9\x0a\x0d\x16"

// huffmanCodes[n] is the number of codes with n bits. The last code of 30 bits, the end of a string, is left out.
const huffmanCodes = "" +
	"\x00\x00\x00\x00\x00\x0a\x1a\x20\x06\x00\x05\x03\x02\x06\x02\x03\x00\x00\x00\x03\x08\x0d\x1a\x1d\x0c\x04\x0f" +
	"\x13\x1d\x00\x03"

var errHuffman = errors.New("invalid Huffman code")

// appendHuffman decodes coded and appends the string, as long as the result has at most limit bytes.
func appendHuffman(b, coded []byte, limit int) ([]byte, error) {
	// code holds the length bits read of a code, first the least code of the length, index the place of first's symbol.
	code, length, first, index := 0, 0, 0, 0
	ones := true // all bits of the code are set, as in padding
	for i := range 8 * len(coded) {
		bit := int(coded[i/8]>>(7-i%8)) & 1
		code, first, length, ones = code<<1|bit, first<<1, length+1, ones && bit == 1
		if length >= len(huffmanCodes) {
			return nil, errHuffman
		}
		count := int(huffmanCodes[length])
		if code-first < count {
			if len(b) >= limit {
				return nil, &TooLargeError{limit}
			}
			b = append(b, huffmanSymbols[index+code-first])
			code, length, first, index, ones = 0, 0, 0, 0, true
			continue
		}
		first, index = first+count, index+count
	}
	// The first bits of the code for the end of a string fill up the last byte (section 5.2).
	if length > 7 || !ones {
		return nil, errHuffman
	}
	return b, nil
}
