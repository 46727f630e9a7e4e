package bridge

import (
	"net/netip"
	"testing"
	"time"
)

// An address that comes back is a regular one, however many others come once, until it has been away for long. There
// are never more than the table has room for.
func TestRegulars(t *testing.T) {
	t.Parallel()
	r, now := regulars{}, time.Unix(0, 0)
	kubelet, other := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.1.0.0")
	r.note(kubelet, now)
	if r.has(kubelet) {
		t.Error("an address that has come once is a regular one")
	}
	r.note(kubelet, now.Add(returning))
	for range 100 * maxRegulars {
		other = other.Next()
		r.note(other, now.Add(returning))
	}
	if !r.has(kubelet) || r.has(other) || len(r) > maxRegulars {
		t.Errorf("of %d addresses %v is a regular one: %v", len(r), kubelet, r.has(kubelet))
	}
	for from := range r {
		r.note(from, now.Add(2*returning))
	}
	r.note(other.Next(), now.Add(absence))
	if _, ok := r[other.Next()]; ok {
		t.Error("an address that has come once takes the place of a regular one")
	}
	r.note(other.Next(), now.Add(2*absence))
	if _, ok := r[other.Next()]; !ok {
		t.Error("regular addresses that are away keep their places")
	}
}
