package bridge

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// handler answers requests, each by asking the server.
type handler struct {
	bridge    target
	questions *questions
	watches   chan struct{} // a place for each call of Watch
	stopping  chan struct{} // closed once the bridge ends
}

func newHandler(b target, q *questions) *handler {
	return &handler{
		bridge: b, questions: q, watches: make(chan struct{}, maxWatches), stopping: make(chan struct{}),
	}
}

// pages are the paths for HTTP, and the service of each.
var pages = map[string]string{"/healthz": "", "/readyz": "ready", "/livez": "live"}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor == 2 && isGRPC(r.Header.Get("Content-Type")) {
		h.serveRPC(w, r)
		return
	}
	service, ok := pages[r.URL.Path]
	switch {
	case !ok:
		http.Error(w, "not found: the pages are /healthz, /readyz and /livez", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "method not allowed: use GET or HEAD", http.StatusMethodNotAllowed)
	default:
		h.servePage(w, r, service)
	}
}

// longest is the longest time that a caller who sets no deadline waits: his question may have to wait until it was
// answered to those who came before.
func (h *handler) longest() time.Duration { return 2*h.bridge.longest() + time.Second }

// servePage answers with 200 where the server is as it should be, and with 503 otherwise. The body is what the probe
// prints.
func (h *handler) servePage(w http.ResponseWriter, r *http.Request, service string) {
	ctx, cancel := context.WithTimeout(r.Context(), h.longest())
	defer cancel()
	ended, err := h.questions.ask(ctx, h.bridge.question(service), callerOf(r.RemoteAddr))
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeTimeout)) // HTTP/1.1 and HTTP/2 both can
	if err != nil {
		http.Error(w, "error: no answer in time", http.StatusServiceUnavailable)
		return
	}
	body, kind := []byte(strings.Join(ended.Lines(), "\n")+"\n"), "text/plain; charset=utf-8"
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		body, kind = ended.JSON(), "application/json"
	}
	header.Set("Content-Type", kind)
	if !ended.Passes() {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = w.Write(body) //nolint:gosec // G705: it is text or JSON, and says so with nosniff; the caller may be gone
}
