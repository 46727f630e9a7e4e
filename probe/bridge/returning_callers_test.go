package bridge

import (
	"net/netip"
	"testing"
	"time"
)

// A caller that returns is remembered, however many others ask once, until it has stayed away for long. The table never
// has more callers than its limit.
func TestReturningCallers(t *testing.T) {
	t.Parallel()
	r, now := returningCallers{}, time.Unix(0, 0)
	kubelet, other := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.1.0.0")
	r.note(kubelet, now)
	if r.has(kubelet) {
		t.Error("a caller is a returning one after one answer")
	}
	r.note(kubelet, now.Add(returnAfter))
	for range 100 * maxReturning {
		other = other.Next()
		r.note(other, now.Add(returnAfter))
	}
	if !r.has(kubelet) || r.has(other) || len(r) > maxReturning {
		t.Errorf("of %d callers %v is a returning one: %v", len(r), kubelet, r.has(kubelet))
	}
	for from := range r {
		r.note(from, now.Add(2*returnAfter))
	}
	r.note(other.Next(), now.Add(forgetAfter))
	if _, ok := r[other.Next()]; ok {
		t.Error("a new caller takes the place of a returning one")
	}
	r.note(other.Next(), now.Add(2*forgetAfter))
	if _, ok := r[other.Next()]; !ok {
		t.Error("callers that stay away are remembered")
	}
}
