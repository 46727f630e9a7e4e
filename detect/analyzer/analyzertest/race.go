//go:build race

package analyzertest

// underRace tells that the tests run under the race detector, which makes measured costs a dozen times as high.
const underRace = true
