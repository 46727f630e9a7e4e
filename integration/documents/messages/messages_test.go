package messages

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// probe is the folder of the probe.
const probe = "../../../probe"

// readOnce reads the messages once, for all tests.
var readOnce = sync.OnceValues(func() ([]Message, error) { return ReadAll(probe) })

func read(t *testing.T) []Message {
	t.Helper()
	found, err := readOnce()
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestMessagesAreFoundInTheSource(t *testing.T) {
	t.Parallel()
	found := read(t)
	for _, want := range []Message{
		{Text: "no certificate in it"},
		{Text: "-… and -… exclude each other"},
		{Text: "the server does not speak TLS"},
		{Text: "attempt …: …"},                                            // a format of another function
		{Text: "it has no address"},                                       // in a struct that is an error
		{Text: "decompressing the message: "},                             // a part of one, in a struct with a reason
		{Text: "server sent headers twice"},                               // a parameter reason
		{Text: "server is closing the connection (GOAWAY, error code …)"}, // put together before it is an error
		{IsHint: true, Text: "keep one of the two"},
		{IsHint: true, Text: "raise … if the server needs longer"},
		{
			IsHint: true,
			Text: "does the name server answer? check the host in -addr; for a server in the same pod or " +
				"container, use localhost",
		},
		{IsHint: true, Text: "leave it out for ready"},
	} {
		isWanted := func(m Message) bool { return m.IsHint == want.IsHint && strings.Contains(m.Text, want.Text) }
		if !slices.ContainsFunc(found, isWanted) {
			t.Errorf("%+v is not among %d messages", want, len(found))
		}
	}
}

// withoutScript are hints that no script can cause, each with the reason why.
var withoutScript = map[string]string{
	"give -rpc-header once for each header":       "the build of an image says it, not the probe",
	"use fewer or shorter arguments":              "the build of an image says it, not the probe",
	"the probe's user may not use the socket":     "the tests may run as root, who may use it",
	"set a status in the server's health service": "grpc-go's health service always lists a status",
	"write it in UTF-8, as protobuf requires":     "a script is UTF-8 too",

	"set -addr, or GRPC_HEALTH_PROBE_ADDR in the container": "another user's process has to own the sockets",

	"raise the limit of open files (ulimit -n): a plain probe needs five, each may need ten": "package lean has a test",
}

// Each hint must be in a script, or in a test of the bridge, so that none is wrong or unused.
func TestScriptsExpectEachHint(t *testing.T) {
	t.Parallel()
	var scripts strings.Builder
	err := filepath.WalkDir(probe+"/testdata", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		scripts.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"bridge/process_test.go", "bridge/background/background_test.go", "discover/search_test.go",
	} {
		text, err := os.ReadFile(probe + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		scripts.Write(text)
	}
	for _, m := range read(t) {
		isExpected, reason := m.Pattern().MatchString(scripts.String()), withoutScript[m.Text]
		if m.IsHint && isExpected == (reason != "") {
			t.Errorf("%s: a script expects the hint %q: %v; reason why none can: %q", m.Position, m.Text, isExpected,
				reason)
		}
	}
}
