package bridge

import (
	"net/netip"
	"time"
)

// regulars are the addresses that have had answers again and again, as the kubelet's has: with some network plugins it
// is neither the pod's own nor a gateway's. They are preferred to addresses that are new, of which an attacker may have
// more than there are connections. Their number is fixed, and the first to come back stay.
type regulars map[netip.Addr]visits

// visits are the times of the first and the last answer on different connections.
type visits struct{ first, last time.Time }

const (
	maxRegulars = 16
	// returning is the time between two answers from which on an address is a regular one. The kubelet's shortest
	// period is a second.
	returning = time.Second
	// absence is how long an address stays a regular one without an answer. The kubelet's periods are shorter.
	absence = 10 * time.Minute
)

// has reports whether an address is a regular one.
func (r regulars) has(from netip.Addr) bool { return r[from].areRegular() }

func (v visits) areRegular() bool { return v.last.Sub(v.first) >= returning }

// note notes that a connection from an address has had an answer.
func (r regulars) note(from netip.Addr, now time.Time) {
	if v, ok := r[from]; ok {
		r[from] = visits{v.first, now}
		return
	}
	if len(r) >= maxRegulars {
		for other, v := range r {
			if !v.areRegular() || now.Sub(v.last) > absence {
				delete(r, other)
				break
			}
		}
	}
	if len(r) < maxRegulars {
		r[from] = visits{now, now}
	}
}
