package bridge

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// metrics are counters since the start. No name of a caller or a service is in them, so the page has a fixed number of
// lines.
type metrics struct {
	answers             [4]atomic.Int64 // to callers, by status of grpc.health.v1
	checks, nanoseconds atomic.Int64    // of the server
	rejected, evicted   atomic.Int64    // connections
}

func (m *metrics) addCheck(took time.Duration) {
	m.checks.Add(1)
	m.nanoseconds.Add(int64(took))
}

func (m *metrics) addAnswer(status outcome.Status) {
	if 0 <= status && int(status) < len(m.answers) {
		m.answers[status].Add(1)
	}
}

// openMetrics is the content type of the page (OpenMetrics 1.0.0).
const openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"

// page returns the metrics in OpenMetrics' text format.
func (m *metrics) page(droppedLines int) page {
	var b strings.Builder
	family := func(name, kind, help string) {
		fmt.Fprintf(&b, "# TYPE grpc_health_bridge_%s %s\n# HELP grpc_health_bridge_%s %s\n", name, kind, name, help)
	}
	sample := func(name string, value any) { fmt.Fprintf(&b, "grpc_health_bridge_%s %v\n", name, value) }
	family("answers", "counter", "Answers to callers.")
	for status := range m.answers {
		sample(fmt.Sprintf("answers_total{status=%q}", outcome.Status(status)), m.answers[status].Load())
	}
	family("server_check_seconds", "summary", "Checks of the server, and how long they took.")
	sample("server_check_seconds_count", m.checks.Load())
	sample("server_check_seconds_sum", time.Duration(m.nanoseconds.Load()).Seconds())
	family("closed_connections", "counter", "Connections closed because of -allow, or to make room for a newer one.")
	sample(`closed_connections_total{reason="not_allowed"}`, m.rejected.Load())
	sample(`closed_connections_total{reason="limit"}`, m.evicted.Load())
	family("dropped_log_lines", "counter", "Lines that the log did not take in time.")
	sample("dropped_log_lines_total", droppedLines)
	b.WriteString("# EOF\n")
	return page{status: 200, kind: openMetrics, body: b.String()}
}
