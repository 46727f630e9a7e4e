package github

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
)

// Answers are those that the API gave before, by the address that was asked. What is in them is asked for again with its
// ETag: where GitHub answers 304, it is unchanged, and for a token the request does not count against the rate limit
// (RFC 9110, 13.1.2; GitHub's REST documentation, conditional requests).
type Answers struct {
	file        string
	before, now map[string]answer
}

type answer struct {
	ETag string          `json:"etag"`
	Body json.RawMessage `json:"body"`
}

// etag is the form of an ETag (RFC 9110, 8.8.3), no longer than a server needs one to be. GitHub's have 68 characters.
var etag = regexp.MustCompile(`^(W/)?"[!#-~]{1,256}"$`)

// OpenAnswers reads the answers of the build before from file. A file that is not there, or not whole, has none.
func OpenAnswers(file string) *Answers {
	answers := &Answers{file: file, now: map[string]answer{}}
	if text, err := os.ReadFile(file); err != nil || json.Unmarshal(text, &answers.before) != nil {
		answers.before = nil
	}
	return answers
}

// Save writes the answers that this build was given to the file, and tells whether there are any.
func (a *Answers) Save() (bool, error) {
	if len(a.now) == 0 {
		return false, nil
	}
	text, err := json.Marshal(a.now)
	if err == nil {
		err = os.WriteFile(a.file, text, 0o644)
	}
	if err != nil {
		return false, fmt.Errorf("keeping the answers of GitHub's API: %w", err)
	}
	return true, nil
}

func (a *Answers) find(address string) answer {
	known, ok := a.now[address]
	if !ok {
		known = a.before[address]
	}
	if !etag.MatchString(known.ETag) {
		return answer{}
	}
	return known
}

// conditional asks the API for what it has not answered already.
type conditional struct {
	transport
	answers *Answers
	logf    func(format string, args ...any)
}

// RoundTrip is one request and its answer, which is the one of before where the API says that it is unchanged.
func (c conditional) RoundTrip(request *http.Request) (*http.Response, error) {
	if !isAPI(c.api, request) || request.Header.Get("Accept") == contentTypeOfAnAsset {
		return c.transport.RoundTrip(request)
	}
	address := request.URL.String()
	known := c.answers.find(address)
	if known.ETag != "" {
		request = request.Clone(request.Context())
		request.Header.Set("If-None-Match", known.ETag)
	}
	response, err := c.transport.RoundTrip(request)
	if err != nil || response.StatusCode != http.StatusOK && (response.StatusCode != http.StatusNotModified || known.ETag == "") {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusNotModified {
		if _, again := c.answers.now[address]; !again {
			c.logf("Unchanged on %s: %s", request.URL.Hostname(), request.URL.EscapedPath())
		}
		response.StatusCode, body = http.StatusOK, known.Body
	} else {
		known = answer{response.Header.Get("ETag"), body}
	}
	if etag.MatchString(known.ETag) && json.Valid(body) {
		c.answers.now[address] = known
	}
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return response, nil
}
