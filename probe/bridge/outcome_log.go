package bridge

import (
	"fmt"
	"sync"

	"github.com/grpc-cnb/health-probe/probe/bridge/linelog"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// maxLoggedQuestions is the number of questions in the log: those of the flags, and the first of the rest.
const maxLoggedQuestions = 32

// outcomeLog logs an outcome only if it differs from the question's last: a server that is down would otherwise fill
// the log, with a line for each probe of the kubelet.
type outcomeLog struct {
	mu   sync.Mutex
	log  *linelog.Log
	last map[question]outcome.Outcome
}

func (l *outcomeLog) note(q question, ended outcome.Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, ok := l.last[q]
	if ok && last.Equals(&ended) || !ok && len(l.last) >= maxLoggedQuestions {
		return
	}
	// Callers may ask for any number of unknown names.
	if answers := ended.Report.Answers; q.kind == oneService && len(answers) == 1 && answers[0].IsUnknownService() {
		return
	}
	l.last[q] = ended
	for _, line := range ended.Lines() {
		l.log.Print(fmt.Sprintf("%s: %s", q, line))
	}
}
