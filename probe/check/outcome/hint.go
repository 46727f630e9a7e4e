package outcome

import (
	"errors"
	"fmt"
)

// WithHint adds to the text of an error that a [Failure] caused what the user can do about it, for those who print an
// error on one line.
func WithHint(err error) error {
	if failure, ok := errors.AsType[*Failure](err); ok && failure.Hint != "" {
		return fmt.Errorf("%w (%s)", err, failure.Hint)
	}
	return err
}
