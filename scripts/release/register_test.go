package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const (
	indexFile = "he/al/grpc-cnb_health-probe"
	wanted    = `{"ns":"grpc-cnb","name":"health-probe","version":"1.0.0","yanked":false,"addr":"x@sha256:a"}`
)

// registryServer behaves as GitHub's API does for the registry's repository: it takes one issue, and shows it in its
// states, one after the other, the last one from then on. An empty state is an error of the server.
type registryServer struct {
	entries string
	states  []string
	asked   map[string]string // the issue
}

func (s *registryServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const repository = "/repos/buildpacks/registry-index/"
	switch call := r.Method + " " + strings.TrimPrefix(r.URL.Path, repository); {
	case r.Header.Get("Authorization") != "Bearer secret":
		w.WriteHeader(http.StatusUnauthorized)
	case call == "GET contents/"+indexFile && s.entries != "":
		fmt.Fprintf(w, `{"type":"file","content":%q}`, s.entries)
	case call == "POST issues" && json.NewDecoder(r.Body).Decode(&s.asked) == nil:
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"number":1,"html_url":"the issue","state":"open","labels":[]}`)
	case call == "GET issues/1" && s.states[0] != "":
		_, _ = io.WriteString(w, s.states[0])
	default:
		w.WriteHeader(http.StatusNotFound)
	}
	if r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/issues/1") && len(s.states) > 1 {
		s.states = s.states[1:]
	}
}

const (
	open     = `{"state":"open","labels":[]}`
	accepted = `{"state":"closed","labels":[{"name":"succeeded"}]}`
	refused  = `{"state":"closed","labels":[{"name":"failed"}]}`
)

func TestRegistryAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, entries string
		states        []string
		token, want   string // what the error has
		asked         bool
	}{
		{"accepted", "", []string{open, "", accepted}, "secret", "", true},
		{"accepted beside older versions", "{}\n", []string{accepted}, "secret", "", true},
		{"registered by an earlier run", "{}\n" + wanted + "\n", []string{refused}, "secret", "", false},
		{"refused", "", []string{open, refused}, "secret", "the registry refuses it, and the issue says why", true},
		{"closed by hand", "", []string{`{"state":"closed","labels":[]}`}, "secret", "the registry refuses it", true},
		{"not answered", "", []string{open}, "secret", "no answer after 10ms in the issue", true},
		{"not readable", "", []string{""}, "secret", "no answer after 10ms in the issue", true},
		{"with another token", "", []string{accepted}, "other", ": 401 ", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := &registryServer{entries: c.entries, states: c.states}
			api := httptest.NewServer(server)
			defer api.Close()
			var out strings.Builder
			r := registry{api.URL, c.token, time.Millisecond, time.Minute, &out}
			if strings.HasPrefix(c.want, "no answer") {
				r.limit = 10 * time.Millisecond
			}
			err := r.register(indexFile, wanted, "ADD x@1.0.0", "id = \"x\"")
			if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("it ends with %v, want %q", err, c.want)
			}
			if asked := server.asked["title"] == "ADD x@1.0.0" && server.asked["body"] == `id = "x"`; asked != c.asked {
				t.Errorf("the issue is %q: %s", server.asked, out.String())
			}
		})
	}
}
