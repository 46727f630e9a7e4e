package githubtest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// asset and release are the parts of GitHub's REST API types that the tests need.
type asset struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	Digest string `json:"digest,omitempty"`
}

type release struct {
	TagName   string  `json:"tag_name"`
	Immutable bool    `json:"immutable"`
	Assets    []asset `json:"assets"`
}

// serveAPI answers for the API: releases/latest, releases/tags/TAG and releases/assets/ID below repos/OWNER/NAME.
func (s *Server) serveAPI(w http.ResponseWriter, r *http.Request, path, store string) {
	if s.refuses(w, r) {
		return
	}
	parts := strings.Split(path, "/")
	if len(parts) < 5 || parts[0] != "repos" || parts[3] != "releases" {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	repo, rest := parts[1]+"/"+parts[2], parts[4:]
	switch {
	case rest[0] == "latest":
		s.serveRelease(w, repo, s.latest(repo))
	case rest[0] == "tags" && len(rest) == 2:
		s.serveRelease(w, repo, rest[1])
	case rest[0] == "assets" && len(rest) == 2:
		s.serveAsset(w, r, repo, rest[1], store)
	default:
		fail(w, http.StatusNotFound, "Not Found")
	}
}

// refuses answers with an error if the behaviour or the token demands an error, and reports whether it did.
func (s *Server) refuses(w http.ResponseWriter, r *http.Request) bool {
	behaviour := s.behaviour()
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case behaviour.Unavailable:
		fail(w, http.StatusBadGateway, "Server Error")
	case behaviour.APIPage:
		servePage(w)
	case behaviour.APIText != "":
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		fmt.Fprint(w, behaviour.APIText)
	case behaviour.APILoop:
		http.Redirect(w, r, r.URL.String(), http.StatusMovedPermanently)
	case behaviour.Limited, behaviour.LimitedAssets && strings.Contains(r.URL.Path, "/releases/assets/"):
		w.Header().Set("X-RateLimit-Limit", "60")
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(behaviour.Reset.Unix(), 10))
		fail(w, http.StatusForbidden, "API rate limit exceeded")
	case behaviour.Throttled:
		if behaviour.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(behaviour.RetryAfter))
		}
		fail(w, http.StatusForbidden, "You have exceeded a secondary rate limit", "#about-secondary-rate-limits")
	case token != "" && token != behaviour.Token:
		fail(w, http.StatusUnauthorized, "Bad credentials")
	case behaviour.Forbidden:
		fail(w, http.StatusForbidden, "Resource not accessible by personal access token")
	case behaviour.Private && token == "":
		fail(w, http.StatusNotFound, "Not Found")
	default:
		return false
	}
	return true
}

// fail answers with an error in GitHub's words. Some errors differ only in the section of GitHub's documentation.
func fail(w http.ResponseWriter, status int, message string, section ...string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"message": %q, "documentation_url": "https://docs.github.com/rest%s"}`, message,
		strings.Join(section, ""))
}

func (s *Server) serveRelease(w http.ResponseWriter, repo, tag string) {
	found, ok := s.release(repo, tag)
	if !ok {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	text, err := json.Marshal(found)
	if err != nil {
		fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Write(text)
}

// latest returns the last tag of the repository in alphabetical order.
func (s *Server) latest(repo string) string {
	tags, _ := os.ReadDir(filepath.Join(s.dir, filepath.FromSlash(repo)))
	if len(tags) == 0 {
		return ""
	}
	return tags[len(tags)-1].Name()
}

func (s *Server) release(repo, tag string) (release, bool) {
	entries, err := os.ReadDir(filepath.Join(s.dir, filepath.FromSlash(repo), tag))
	if err != nil || tag == "" {
		return release{}, false
	}
	behaviour := s.behaviour()
	found := release{TagName: tag, Immutable: behaviour.Immutable}
	if behaviour.OtherTag {
		found.TagName = "other"
	}
	for _, entry := range entries {
		content, _ := os.ReadFile(s.file(repo, tag, entry.Name()))
		a := asset{ID: id(repo, tag, entry.Name()), Name: entry.Name(), Size: int64(len(content))}
		digest := sha256.Sum256(content)
		if behaviour.WrongDigest {
			digest = [32]byte{1}
		}
		if !behaviour.NoDigest {
			a.Digest = "sha256:" + hex.EncodeToString(digest[:])
		}
		found.Assets = append(found.Assets, a)
	}
	return found, true
}

func id(repo, tag, asset string) int64 {
	hash := fnv.New32a()
	fmt.Fprint(hash, repo, tag, asset)
	return int64(hash.Sum32())
}

// serveAsset answers for the API's endpoint of an asset, which redirects to the store as on GitHub.
func (s *Server) serveAsset(w http.ResponseWriter, r *http.Request, repo, wanted, store string) {
	tags, _ := os.ReadDir(filepath.Join(s.dir, filepath.FromSlash(repo)))
	for _, tag := range tags {
		found, _ := s.release(repo, tag.Name())
		i := slices.IndexFunc(found.Assets, func(a asset) bool { return strconv.FormatInt(a.ID, 10) == wanted })
		if i >= 0 && r.Header.Get("Accept") == "application/octet-stream" {
			s.redirect(w, r, store, repo+"/"+tag.Name()+"/"+found.Assets[i].Name)
			return
		}
	}
	fail(w, http.StatusNotFound, "Not Found")
}
