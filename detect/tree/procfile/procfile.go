// Package procfile reads the command lines that start the processes of an app, from a Procfile. Begin with [Read], then
// [Serving].
package procfile

import (
	"bytes"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Name is the name of the file in the folder of an app.
const Name = "Procfile"

const (
	maxProcesses = 100
	maxCommand   = 4096 // bytes
)

// Process is a process type of an app.
type Process struct {
	Name    string // "web"
	Command string // as a shell executes it
	Line    int
}

// line is a line of a Procfile (paketo-buildpacks/procfile procfile/procfile.go).
var line = lazyregexp.New(`^([A-Za-z0-9_-]+):[ \t]*(\S[^\r\n]*)`)

// Read returns the processes of a Procfile, in order.
func Read(text []byte) []Process {
	var all []Process
	number := 0
	for l := range bytes.Lines(text) {
		number++
		if m := line.FindSubmatch(l); m != nil && len(all) < maxProcesses {
			all = append(all, Process{string(m[1]), string(m[2]), number})
		}
	}
	return all
}

// serving are the names of processes that may serve gRPC. The image starts the first.
var serving = []string{"web", "grpc"}

// Serving returns the processes that may serve gRPC: web and grpc, or the only process.
func Serving(all []Process) []Process {
	var found []Process
	for _, name := range serving {
		for _, p := range all {
			if p.Name == name {
				found = append(found, p)
			}
		}
	}
	if found == nil && len(all) == 1 {
		return all
	}
	return found
}

// Words splits a command line as a shell does, or at spaces if a quote is not closed. A quoted command for a shell is
// split into words too.
func Words(command string) []string {
	command = shortened(command)
	words, err := shellquote.Split(command)
	if err != nil {
		return strings.Fields(command)
	}
	return strings.Fields(strings.Join(words, " "))
}

// shortened returns the first maxCommand bytes of a command line, without a word cut short.
func shortened(command string) string {
	if len(command) <= maxCommand {
		return command
	}
	return command[:strings.LastIndexAny(command[:maxCommand+1], " \t")+1]
}
