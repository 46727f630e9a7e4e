package bridge

import (
	"net/netip"
	"time"
)

// returningCallers are addresses with answers on several connections, such as the kubelet's, which with some network
// plugins is neither the pod's nor a gateway's. An attacker may have more new addresses than there are slots. The
// number of returning callers is bounded, and the first to return stay.
type returningCallers map[netip.Addr]answerTimes

// answerTimes are the ends of the first and of the last connection with an answer.
type answerTimes struct{ first, last time.Time }

const (
	maxReturning = 16
	// returnAfter is the least time between two answers to a returning caller: the kubelet's shortest period.
	returnAfter = time.Second
	// forgetAfter is how long a returning caller without an answer is remembered, longer than the kubelet's periods.
	forgetAfter = 10 * time.Minute
)

func (r returningCallers) has(from netip.Addr) bool { return r[from].isReturning() }

func (t answerTimes) isReturning() bool { return t.last.Sub(t.first) >= returnAfter }

// note records that a connection with an answer has ended.
func (r returningCallers) note(from netip.Addr, now time.Time) {
	if times, ok := r[from]; ok {
		r[from] = answerTimes{times.first, now}
		return
	}
	if len(r) >= maxReturning {
		for other, times := range r {
			if !times.isReturning() || now.Sub(times.last) > forgetAfter {
				delete(r, other)
				break
			}
		}
	}
	if len(r) < maxReturning {
		r[from] = answerTimes{now, now}
	}
}
