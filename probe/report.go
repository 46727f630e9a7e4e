package probe

import "time"

// format is the value of -o.
type format string

const (
	formatText format = "text"
	formatJSON format = "json"
)

// report is what the last attempt of a probe has found out.
type report struct {
	answers []Answer
	// connect and rpc are how long it took to connect and to get the answers; zero where the attempt ended before. What
	// a transport leaves from connecting to its first call counts as rpc.
	connect, rpc time.Duration
	attempts     int
}

// begin starts the report of the next attempt. forget empties it where the attempt found no usable connection.
func (r *report) begin()  { *r = report{attempts: r.attempts + 1} }
func (r *report) forget() { *r = report{attempts: r.attempts} }

// json returns the outcome as one line. addr is the value of -addr.
func (r *report) json(addr string, failed failures) []byte {
	var line object
	if failed == nil {
		line.string("outcome", "pass")
		line.int("exit_code", int(ExitServing))
	} else {
		worst := failed.worst()
		line.string("outcome", "fail")
		line.int("exit_code", int(worst.Code))
		line.string("class", string(worst.kind()))
		line.string("error", printable(worst.Error()))
		line.string("hint", string(worst.Hint))
	}
	line.string("address", addr)
	line.objects("services", r.services())
	line.milliseconds("connect_ms", r.connect)
	line.milliseconds("rpc_ms", r.rpc)
	line.int("attempts", r.attempts)
	return append(line.end(), '\n')
}

func (r *report) services() [][]byte {
	objects := make([][]byte, len(r.answers))
	for i, a := range r.answers {
		objects[i] = a.json()
	}
	return objects
}

// json returns an answer with its status, or its error.
func (a Answer) json() []byte {
	var o object
	o.string("service", a.Service)
	if a.Err != nil {
		o.string("error", printable(a.Err.Error()))
	} else {
		o.string("status", a.Status.String())
	}
	return o.end()
}
