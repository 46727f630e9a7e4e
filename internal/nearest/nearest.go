// Package nearest corrects misspelt names: a name and the known names go in, a known name comes out. Begin with [Name].
package nearest

import (
	"cmp"
	"slices"
)

// Name returns the known name with the least [Distance] from a name, "" without known names. Among equals it returns
// the known name with the longest common prefix.
func Name(name string, known []string) string {
	if len(known) == 0 {
		return ""
	}
	return slices.MinFunc(known, func(a, b string) int {
		return cmp.Or(Distance(name, a)-Distance(name, b), commonPrefix(name, b)-commonPrefix(name, a))
	})
}

// commonPrefix returns the length of the common prefix in bytes.
func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// Distance returns the number of bytes to insert, remove or replace between two texts (Levenshtein's distance). The
// time grows with the product of the lengths, so only the first 100 bytes of a count.
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
