//go:build !race

package analyzertest

const underRace = false
