//go:build race

package analyzertest

// underRace tells that the tests run under the race detector, which makes what is measured a dozen times as dear.
const underRace = true
