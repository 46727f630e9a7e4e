package outcome

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"
)

func TestReportIsOneLineOfJSON(t *testing.T) {
	t.Parallel()
	report := Report{Connect: 1500 * time.Microsecond, RPC: 250 * time.Microsecond, Attempts: 12, Answers: []Answer{
		{Service: "", Status: StatusServing},
		{Service: "a", Status: StatusNotServing},
		{Service: "b", Err: &RPCError{Code: CodeNotFound, Message: "unknown\x1b[31m\nservice"}},
	}}
	failed := Failures{
		{Code: ExitNotServing, Err: errors.New("a is down")},
		{Code: ExitRPC, Err: errors.New(`"b" is not known`), Hint: "register it"},
	}
	ended := Outcome{Address: ":5", Report: report, Failures: failed}
	want := `{"outcome":"fail","exit_code":3,"class":"rpc",` +
		`"error":"\"b\" is not known","hint":"register it","address":":5",` +
		`"services":[{"service":"","status":"SERVING"},{"service":"a","status":"NOT_SERVING"},` +
		"{\"service\":\"b\",\"error\":\"NOT_FOUND: unknown\uFFFD[31m\uFFFDservice\"}]," +
		`"connect_ms":1.500,"rpc_ms":0.250,"attempts":12}` + "\n"
	if got := string(ended.JSON()); got != want {
		t.Errorf("report is\n%s, want\n%s", got, want)
	}
}

func TestTheSmallestExitCodeIsTheWorst(t *testing.T) {
	t.Parallel()
	failed := Failures{{Code: ExitNotServing}, {Code: ExitRPC}, {Code: ExitConnection}, {Code: ExitNotServing}}
	if worst := failed.Worst(); worst.Code != ExitConnection {
		t.Errorf("worst of 4, 3, 2 and 4 is %d, want 2", worst.Code)
	}
	if worst := failed[:2].Worst(); worst.Code != ExitRPC {
		t.Errorf("worst of 4 and 3 is %d, want 3", worst.Code)
	}
}

// FuzzJSON checks that every reader sees the strings that encoding/json would have written, and that nothing in them
// can move the cursor of a terminal.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{
		"", "a", `"\`, "\x00\n\x7f\u0085", "\xff\xc3", "\u2028\u202e", "\U0001f600\U000e0001",
		"é", "\uffff\U0010ffff",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var o object
		o.string(text, text)
		line := string(o.end())
		var got map[string]string
		if err := json.Unmarshal([]byte(line), &got); err != nil {
			t.Fatalf("reading %q: %v", line, err)
		}
		reference, err := json.Marshal(map[string]string{text: text})
		if err != nil {
			t.Fatal(err)
		}
		var want map[string]string
		if err := json.Unmarshal(reference, &want); err != nil {
			t.Fatal(err)
		}
		for name, value := range want {
			if got[name] != value || len(got) != 1 {
				t.Errorf("%q was written as %q and read as %q", text, line, got)
			}
		}
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q was written as %q", text, line)
		}
	})
}
