// Package outcome is the findings of a probe and their words: lines for users, one line of JSON, and an exit code.
//
// In goes an [Outcome], made of the answers of the server and of each [Failure] with its cause and a [Hint]. Begin with
// Outcome.
package outcome

import (
	"slices"
	"time"
)

// Outcome is the end of a probe.
type Outcome struct {
	// Success is the line for a probe that passes.
	Success string
	// Address is the address of the server in the form of -addr.
	Address string
	Report  Report
	// Notes are further facts for the user. Notes change nothing.
	Notes []string
	// Failures are the reasons not to pass; nil for a probe that passes.
	Failures Failures
}

// Report is the findings of the last attempt of a probe.
type Report struct {
	Answers []Answer
	// Connect and RPC are the times to connect and to get the answers; zero if the attempt ended before. Work that a
	// transport leaves from connecting to the first call counts as RPC.
	Connect, RPC time.Duration
	Attempts     int
	// Discovered are the servers that decide if no user has given an address. Address is where to find them.
	Discovered []Discovered
	Address    string
}

// Passes reports whether the server is as asked for.
func (o *Outcome) Passes() bool { return o.Failures == nil }

// Code returns the exit code.
func (o *Outcome) Code() ExitCode {
	if o.Passes() {
		return ExitServing
	}
	return o.Failures.Worst().Code
}

// Equals reports whether two outcomes tell the same, whatever texts the server has sent.
func (o *Outcome) Equals(other *Outcome) bool {
	return slices.EqualFunc(o.Failures, other.Failures, func(a, b *Failure) bool {
		return a.Code == b.Code && a.kind() == b.kind() && a.Hint == b.Hint
	})
}

// Lines returns the lines of the outcome for users.
func (o *Outcome) Lines() []string {
	lines := []string{o.Success}
	if !o.Passes() {
		lines = o.Failures.Lines()
	}
	for _, note := range o.Notes {
		lines = append(lines, Printable("note: "+note))
	}
	return lines
}

// JSON returns the outcome as one line of JSON.
func (o *Outcome) JSON() []byte {
	var line object
	if o.Passes() {
		line.string("outcome", "pass")
		line.int("exit_code", int(ExitServing))
	} else {
		worst := o.Failures.Worst()
		line.string("outcome", "fail")
		line.int("exit_code", int(worst.Code))
		line.string("class", string(worst.kind()))
		line.string("error", Printable(worst.Error()))
		line.string("hint", string(worst.Hint))
	}
	line.string("address", o.Address)
	line.list("services", o.Report.services())
	line.milliseconds("connect_ms", o.Report.Connect)
	line.milliseconds("rpc_ms", o.Report.RPC)
	line.int("attempts", o.Report.Attempts)
	if o.Notes != nil {
		line.list("notes", o.notes())
	}
	if o.Report.Discovered != nil {
		line.list("discovered", o.Report.discovered())
	}
	return append(line.end(), '\n')
}

func (o *Outcome) notes() [][]byte {
	texts := make([][]byte, len(o.Notes))
	for i, note := range o.Notes {
		texts[i] = appendJSON(nil, Printable(note))
	}
	return texts
}

func (r *Report) discovered() [][]byte {
	objects := make([][]byte, len(r.Discovered))
	for i := range r.Discovered {
		objects[i] = r.Discovered[i].JSON()
	}
	return objects
}

func (r *Report) services() [][]byte {
	objects := make([][]byte, len(r.Answers))
	for i, a := range r.Answers {
		objects[i] = a.JSON()
	}
	return objects
}
