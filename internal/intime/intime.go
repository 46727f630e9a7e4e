// Package intime bounds the time of reading files: a disk may hang, and a system call on a disk cannot be cancelled.
// Begin with [Do].
package intime

import (
	"fmt"
	"time"
)

// Error is the error of a function that exceeds the limit.
type Error struct{ Limit time.Duration }

// Error returns the limit.
func (e Error) Error() string { return fmt.Sprintf("it took longer than %s", e.Limit) }

// Do returns the results of a function, or an [Error] after the limit. The function then goes on.
func Do[T any](do func() (T, error), limit time.Duration) (result T, err error) {
	done := make(chan func() (T, error), 1)
	go func() {
		result, err := do()
		done <- func() (T, error) { return result, err }
	}()
	select {
	case returned := <-done:
		return returned()
	case <-time.After(limit):
		return result, Error{limit}
	}
}
