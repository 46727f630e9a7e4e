package detect

import (
	"context"
	"errors"
	"time"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

const (
	// MaxTime is how long the phase reads an app. A tree of a million files takes seconds, so only a disk that hangs,
	// or a deliberately slow app, gets here.
	MaxTime = time.Minute
	// maxExtraTime is how much longer the file may take that is being read then, and the analysis of what was read.
	maxExtraTime = 30 * time.Second
)

// Logger gets lines for users, and those of evidence for who debugs.
type Logger interface {
	Headerf(format string, args ...any)
	Debugf(format string, args ...any)
}

// Servers returns what [FindServers] finds within [MaxTime], and reports it to the logger. Forced says that the probe
// is installed whatever is found.
func Servers(dir string, forced bool, logger Logger) ([]plan.Server, error) {
	findIn := func(limit context.Context) (found, error) { return find(limit, dir, logger.Debugf) }
	f, err := findInTime(findIn, MaxTime, maxExtraTime, logger)
	if err == nil {
		f.report(logger, forced)
	}
	return f.servers, err
}

// findInTime returns what find finds within a limit. An app that takes longer is built with what is known by then,
// which is nothing if find has not returned an extra time later.
func findInTime(
	find func(context.Context) (found, error), limit, extra time.Duration, logger Logger,
) (found, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	type result struct {
		found
		err error
	}
	done := make(chan result, 1)
	go func() {
		f, err := find(ctx)
		done <- result{f, err}
	}()
	select {
	case r := <-done:
		if !errors.Is(r.err, context.DeadlineExceeded) {
			return r.found, r.err
		}
		logger.Headerf("Warning: the scan stopped after %s; results may be incomplete", limit)
		return r.found, nil
	case <-time.After(limit + extra):
		logger.Headerf("Warning: the scan was given up after %s; nothing is known of the app", limit+extra)
		return found{}, nil
	}
}
