// Package nearest finds the name that a misspelt one was meant to be. In go the name and those that are known; one of
// them comes out. Begin with [Name].
package nearest

import (
	"cmp"
	"slices"
)

// Name returns the known name that a name differs least from, "" if none is known. Of several it is the one with
// which the name has the longest beginning in common.
func Name(name string, known []string) string {
	if len(known) == 0 {
		return ""
	}
	return slices.MinFunc(known, func(a, b string) int {
		return cmp.Or(Distance(name, a)-Distance(name, b), commonPrefix(name, b)-commonPrefix(name, a))
	})
}

// commonPrefix returns how many bytes two texts begin with in common.
func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// Distance returns how many bytes have to be inserted, removed or replaced to make one text of another (Levenshtein's
// distance). The time is that of the product of the lengths, so only the first 100 bytes of a count.
func Distance(a, b string) int {
	a = a[:min(len(a), 100)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
