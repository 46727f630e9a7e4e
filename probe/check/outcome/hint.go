package outcome

import (
	"errors"
	"fmt"
)

// WithHint adds to an error the hint of its [Failure], if any, for errors printed on one line.
func WithHint(err error) error {
	if failure, ok := errors.AsType[*Failure](err); ok && failure.Hint != "" {
		return fmt.Errorf("%w (%s)", err, failure.Hint)
	}
	return err
}
