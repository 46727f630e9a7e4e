// Package procfile reads how the processes of an app are started: by the command lines of a Procfile. Begin with
// [Read], then [Serving].
package procfile

import (
	"bytes"
	"strings"

	"github.com/kballard/go-shellquote"

	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Name is the file, in the folder of an app.
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

// Read returns the processes that a Procfile has, in its order.
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

// serving are the names of processes that may serve gRPC. The first one is what the image starts.
var serving = []string{"web", "grpc"}

// Serving returns the processes that may serve gRPC: web and grpc, or the only one that there is.
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

// Words splits a command line as a shell does, or at spaces if a quote is not closed. The command that a shell is given
// in one word is several.
func Words(command string) []string {
	command = shortened(command)
	words, err := shellquote.Split(command)
	if err != nil {
		return strings.Fields(command)
	}
	return strings.Fields(strings.Join(words, " "))
}

// shortened returns a command line as far as it is read, without a word that would not be whole.
func shortened(command string) string {
	if len(command) <= maxCommand {
		return command
	}
	return command[:strings.LastIndexAny(command[:maxCommand+1], " \t")+1]
}
