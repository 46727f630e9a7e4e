package githubtest

import (
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// signature is a secret in the addresses of the store.
const signature = "signature-of-the-store"

// serveWeb answers for browsers' download addresses: OWNER/NAME/releases/download/TAG/ASSET.
func (s *Server) serveWeb(w http.ResponseWriter, r *http.Request, path, store string) {
	parts := strings.Split(path, "/")
	behaviour := s.behaviour()
	if behaviour.Private && behaviour.Login {
		servePage(w)
		return
	}
	if behaviour.Private || len(parts) != 6 || parts[2] != "releases" || parts[3] != "download" {
		http.NotFound(w, r)
		return
	}
	asset := parts[0] + "/" + parts[1] + "/" + parts[4] + "/" + parts[5]
	if store == "" {
		s.serveBytes(w, r, asset)
		return
	}
	s.redirect(w, r, store, asset)
}

// redirect sends the client to the store, with a signed address.
func (s *Server) redirect(w http.ResponseWriter, r *http.Request, store, asset string) {
	scheme := "https"
	if s.behaviour().Downgrade {
		scheme = "http"
	}
	http.Redirect(w, r, scheme+"://"+store+"/"+asset+"?signature="+signature, http.StatusFound)
}

// serveBytes answers for the store and the mirror.
func (s *Server) serveBytes(w http.ResponseWriter, r *http.Request, path string) {
	s.mu.Lock()
	behaviour := s.behave
	s.behave.Failures, s.behave.Truncations = max(0, behaviour.Failures-1), max(0, behaviour.Truncations-1)
	s.mu.Unlock()
	parts := strings.Split(path, "/")
	switch {
	case behaviour.Failures > 0:
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	case behaviour.Loop:
		http.Redirect(w, r, r.URL.String(), http.StatusFound)
		return
	case behaviour.Page:
		servePage(w)
		return
	case len(parts) != 4 || s.file(parts[0]+"/"+parts[1], parts[2], parts[3]) == "":
		http.NotFound(w, r)
		return
	}
	content, err := os.ReadFile(s.file(parts[0]+"/"+parts[1], parts[2], parts[3]))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	if behaviour.Truncations > 0 {
		w.Write(content[:len(content)/2])
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	trickle(w, content, behaviour.Delay)
}

// servePage answers with a web page, like a proxy or a login in front of GitHub.
func servePage(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write([]byte("<!DOCTYPE html>\n<html><title>Sign in</title></html>\n"))
}

// trickle writes the content in a hundred parts, with a pause before each.
func trickle(w http.ResponseWriter, content []byte, pause time.Duration) {
	for step := len(content)/100 + 1; len(content) > 0; content = content[min(step, len(content)):] {
		time.Sleep(pause)
		if _, err := w.Write(content[:min(step, len(content))]); err != nil {
			return
		}
		if pause > 0 {
			http.NewResponseController(w).Flush()
		}
	}
}
