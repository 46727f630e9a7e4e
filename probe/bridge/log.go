package bridge

import (
	"fmt"
	"sync"

	"github.com/grpc-cnb/health-probe/probe/bridge/linelog"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// maxLogged is how many questions the log has lines about: those that the flags ask, and the first others.
const maxLogged = 32

// changes logs each outcome that is not that of the question before, and nothing else: a server that is down would fill
// the log, with a line for each probe of the kubelet.
type changes struct {
	mu   sync.Mutex
	log  *linelog.Log
	last map[question]outcome.Outcome
}

func (c *changes) note(q question, ended outcome.Outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	last, ok := c.last[q]
	if ok && last.Equals(&ended) || !ok && len(c.last) >= maxLogged {
		return
	}
	// A name that the server does not know can be anything, and callers may make up any number of them.
	if answers := ended.Report.Answers; q.kind == oneService && len(answers) == 1 && answers[0].IsUnknownService() {
		return
	}
	c.last[q] = ended
	for _, line := range ended.Lines() {
		c.log.Print(fmt.Sprintf("%s: %s", q, line))
	}
}
