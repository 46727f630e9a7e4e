package bridge

import (
	"strconv"
	"strings"
	"time"
)

// page is an answer by HTTP.
type page struct {
	status  int
	kind    string // the content type
	body    string
	allow   bool // has the header Allow
	release func()
}

const plainText = "text/plain; charset=utf-8"

func errorPage(status int, line string) page {
	return page{status: status, kind: plainText, body: line + "\n"}
}

// page returns the page for an outcome: 200 if the outcome passes, and 503 otherwise. The body is what the probe
// prints.
func (s *shared) page(r *round, json bool) page {
	p := page{status: 200, kind: plainText}
	if !r.outcome.Passes() {
		p.status = 503
	}
	if json {
		p.kind, p.body = "application/json", string(r.outcome.JSON())
	} else {
		p.body = strings.Join(r.outcome.Lines(), "\n") + "\n"
	}
	if len(p.body) <= smallPage {
		return p
	}
	if !s.largePages.tryAcquire() {
		return errorPage(503, "error: too many large pages are being read")
	}
	p.release = s.largePages.release
	return p
}

// beginPage answers a request that is no gRPC call, or asks the server.
func (st *stream) beginPage() error {
	s := st.conn.shared
	service, ok := st.request.resource.isPage()
	switch wrong := s.target.notOwner(st.request.owner); {
	case !ok && st.request.resource != resourceMetrics:
		return st.sendPage(errorPage(404, "not found: the pages are /healthz, /readyz, /livez and /metrics"))
	case st.request.method != methodGet && st.request.method != methodHead:
		p := errorPage(405, "method not allowed: use GET or HEAD")
		p.allow = true
		return st.sendPage(p)
	case !ok:
		return st.sendPage(s.metrics.page(s.log.Dropped()))
	case wrong != "":
		return st.sendPage(errorPage(404, wrong))
	}
	st.wants, st.deadline = wantsPage, time.Now().Add(st.timeout())
	st.ask(service)
	return nil
}

func (st *stream) sendPage(p page) error {
	if p.release != nil {
		defer p.release()
	}
	st.conn.pageSent = true
	defer st.close()
	body := p.body
	if st.request.method == methodHead {
		body = ""
	}
	if st.id != 0 {
		return st.sendPageHTTP2(p, body)
	}
	return st.conn.sendPageHTTP1(p, body)
}

// fields calls add for each header of a page.
func (p page) fields(add func(name, value string)) {
	add("content-type", p.kind)
	add("content-length", strconv.Itoa(len(p.body)))
	add("cache-control", "no-store")
	add("x-content-type-options", "nosniff")
	add("date", time.Now().UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT"))
	if p.allow {
		add("allow", "GET, HEAD")
	}
}
