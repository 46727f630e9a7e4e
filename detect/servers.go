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
	find := func(limit context.Context) ([]plan.Server, error) { return FindServers(limit, dir, logger.Debugf) }
	servers, err := findInTime(find, MaxTime, maxExtraTime, logger)
	if err == nil {
		report(logger, servers, forced)
	}
	return servers, err
}

// findInTime returns what find finds within a limit. An app that takes longer is built with what is known by then,
// which is nothing if find has not returned an extra time later.
func findInTime(
	find func(context.Context) ([]plan.Server, error), limit, extra time.Duration, logger Logger,
) ([]plan.Server, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	type found struct {
		servers []plan.Server
		err     error
	}
	done := make(chan found, 1)
	go func() {
		servers, err := find(ctx)
		done <- found{servers, err}
	}()
	select {
	case f := <-done:
		if !errors.Is(f.err, context.DeadlineExceeded) {
			return f.servers, f.err
		}
		logger.Headerf("Warning: the app was not read to its end within %s", limit)
		return f.servers, nil
	case <-time.After(limit + extra):
		logger.Headerf("Warning: the app was not read within %s", limit+extra)
		return nil, nil
	}
}
