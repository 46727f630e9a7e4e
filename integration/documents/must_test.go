package documents_test

import "testing"

// must returns the value of a call, and fails the test if the call returned an error: must(f())(t).
func must[T any](value T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}
