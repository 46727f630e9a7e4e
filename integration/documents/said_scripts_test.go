package documents_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestMessagesAreFoundInTheSource(t *testing.T) {
	t.Parallel()
	found := probeMessages(t)
	for _, want := range []message{
		{Text: "no certificate in it"},
		{Text: "-… and -… exclude each other"},
		{Text: "the server does not speak TLS"},
		{Text: "attempt …: …"},                                            // a format of another function
		{Text: "it has no address"},                                       // in a struct that is an error
		{Text: "decompressing the message: "},                             // a part of one, in a struct with a reason
		{Text: "server sent headers twice"},                               // a parameter reason
		{Text: "server is closing the connection (GOAWAY, error code …)"}, // put together before it is an error
		{isHint: true, Text: "keep one of the two"},
		{isHint: true, Text: "raise … if the server needs longer"},
		{
			isHint: true,
			Text: "does the name server answer? check the host in -addr; for a server in the same pod or " +
				"container, use localhost",
		},
		{isHint: true, Text: "leave it out for ready"},
	} {
		isWanted := func(m message) bool { return m.isHint == want.isHint && strings.Contains(m.Text, want.Text) }
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
	probe := filepath.Join(repository, "probe")
	err := filepath.WalkDir(filepath.Join(probe, "testdata"), func(path string, entry fs.DirEntry, err error) error {
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
		text, err := os.ReadFile(filepath.Join(probe, name))
		if err != nil {
			t.Fatal(err)
		}
		scripts.Write(text)
	}
	for _, m := range probeMessages(t) {
		isExpected, reason := m.Pattern().MatchString(scripts.String()), withoutScript[m.Text]
		if m.isHint && isExpected == (reason != "") {
			t.Errorf("%s: a script expects the hint %q: %v; reason why none can: %q", m.Position, m.Text, isExpected,
				reason)
		}
	}
}
