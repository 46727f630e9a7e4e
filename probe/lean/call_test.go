package lean

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/http2"
)

func TestTimeoutIsNeverShorterAndHasEightDigits(t *testing.T) {
	t.Parallel()
	units := map[byte]time.Duration{
		'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond,
		'u': time.Microsecond, 'n': time.Nanosecond,
	}
	// The edges of every unit, and the longest that a flag can say.
	durations := []time.Duration{1, 999, 1000, 1001, time.Second, time.Hour, math.MaxInt64 - 1, math.MaxInt64}
	for _, unit := range units {
		if limit := 1e8 * float64(unit); limit < math.MaxInt64 {
			durations = append(durations, time.Duration(limit)-1, time.Duration(limit), time.Duration(limit)+1)
		}
	}
	for _, d := range durations {
		text := grpcTimeout(d)
		digits, unit := text[:len(text)-1], units[text[len(text)-1]]
		n, err := strconv.ParseUint(digits, 10, 64)
		if err != nil || len(digits) > 8 || unit == 0 {
			t.Errorf("%d ns is written as %q", d, text)
			continue
		}
		if got := float64(n) * float64(unit); got < float64(d) {
			t.Errorf("%d ns is written as %q, which is shorter", d, text)
		}
		if got := float64(n-1) * float64(unit); got >= float64(d) {
			t.Errorf("%d ns is written as %q, which is more than a unit longer", d, text)
		}
	}
}

func TestEnvelopeSaysHowLongItsMessageIs(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 255, 256, 70_000} {
		message := bytes.Repeat([]byte{7}, size)
		want := append([]byte{0, byte(size >> 24), byte(size >> 16), byte(size >> 8), byte(size)}, message...)
		if got := envelope(message, false); !bytes.Equal(got, want) {
			t.Errorf("envelope of %d bytes begins with %x, want %x", size, got[:5], want[:5])
		}
	}
}

func TestEnvelopeCompresses(t *testing.T) {
	t.Parallel()
	message := []byte(strings.Repeat("message ", 100))
	got := envelope(message, true)
	if got[0] != 1 || int(got[3])<<8|int(got[4]) != len(got)-5 {
		t.Errorf("envelope of %d bytes begins with %x", len(got), got[:5])
	}
	r, err := gzip.NewReader(bytes.NewReader(got[5:]))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := io.ReadAll(r); err != nil || !bytes.Equal(plain, message) {
		t.Errorf("decompressed, it is %q, %v", plain, err)
	}
}

func TestGunzipStopsAtTheLimit(t *testing.T) {
	t.Parallel()
	full := make([]byte, check.MaxMessage)
	if plain, err := gunzip(gzipped(full)); err != nil || !bytes.Equal(plain, full) {
		t.Errorf("%d bytes come back as %d, %v", len(full), len(plain), err)
	}
	if _, err := gunzip(gzipped(make([]byte, check.MaxMessage+1))); err == nil {
		t.Errorf("%d bytes, one over the limit, are taken", len(full)+1)
	}
	truncated := gzipped(full)
	if _, err := gunzip(truncated[:len(truncated)-1]); err == nil {
		t.Error("a truncated message is taken")
	}
}

// The server may end a call at the call's own deadline before the probe notices it.
func TestCallThatTheServerCancelsAtItsDeadline(t *testing.T) {
	t.Parallel()
	for expires, want := range map[time.Time]outcome.Code{
		time.Now().Add(-time.Minute): outcome.CodeDeadlineExceeded,
		time.Now().Add(time.Hour):    canceled,
		{}:                           canceled,
	} {
		call := newStream(nil, nil)
		call.expires = expires
		call.receiveReset(http2.CodeCancel)
		if failed, ok := errors.AsType[*outcome.RPCError](errorOf(call, nil)); !ok || failed.Code != want {
			t.Errorf("of a call that ends at %v: %v, want the code %d", expires, failed, want)
		}
	}
}
