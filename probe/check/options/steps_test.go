package options

import (
	"testing"
	"time"
)

// A second connection takes its time from that of the calls.
func TestReconnect(t *testing.T) {
	t.Parallel()
	b := Budget{ConnectTimeout: time.Minute, RPCTimeout: time.Hour}
	now := time.Now()
	for calls, want := range map[time.Time]time.Time{
		now.Add(time.Second): now.Add(time.Second),
		now.Add(time.Hour):   now.Add(time.Minute),
		{}:                   now.Add(time.Minute),
	} {
		if got := b.Reconnect(calls); got.Before(want) || got.After(want.Add(10*time.Second)) {
			t.Errorf("Reconnect(%v) = %v, want %v", calls, got, want)
		}
	}
}
