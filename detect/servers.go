package detect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/intime"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

const (
	// MaxTime is how long the phase reads an app. A tree of a million files takes seconds, so only a disk that hangs,
	// or a deliberately slow app, takes a minute.
	MaxTime = time.Minute
	// maxExtraTime is additional time for the file being read at MaxTime, and for the analysis after.
	maxExtraTime = 30 * time.Second
)

// Logger gets lines for users, and lines of evidence for debugging.
type Logger interface {
	Headerf(format string, args ...any)
	Debugf(format string, args ...any)
}

// Servers returns the result of [FindServers] within [MaxTime], and reports the result to the logger. enabled is the
// value of config.EnabledEnv: for config.EnabledRequired, an app without a server is an error.
func Servers(dir, enabled string, logger Logger) ([]plan.Server, error) {
	findIn := func(limit context.Context) (found, error) { return find(limit, dir, logger.Debugf) }
	f, err := findInTime(findIn, MaxTime, maxExtraTime)
	if err != nil {
		return nil, err
	}
	if len(f.servers) == 0 && enabled == config.EnabledRequired {
		return nil, f.missing()
	}
	f.report(logger, enabled == config.EnabledTrue)
	return f.servers, nil
}

// findInTime returns the result of find within a limit. A slower app is built with the results known by then, and
// without any if find does not return within the extra time either.
func findInTime(find func(context.Context) (found, error), limit, extra time.Duration) (found, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	f, err := intime.Do(func() (found, error) { return find(ctx) }, limit+extra)
	switch late, isLate := errors.AsType[intime.Error](err); {
	case isLate:
		note := fmt.Sprintf("the scan was given up after %s; nothing is known of the app", late.Limit)
		return found{notes: []string{note}}, nil
	case errors.Is(err, context.DeadlineExceeded):
		f.notes = append(f.notes, fmt.Sprintf("the scan stopped after %s; results may be incomplete", limit))
		return f, nil
	}
	return f, err
}
