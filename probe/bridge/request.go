package bridge

import (
	"bytes"
	"strconv"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/metadata"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
)

// request is the head of a request of HTTP/1.1 or HTTP/2.
type request struct {
	method    method
	resource  resource
	owner     string // whose bridge the path asks, as in /readyz@NAME
	grpc      bool   // the content type is that of gRPC
	json      bool   // the caller accepts JSON
	timeout   time.Duration
	malformed bool // invalid in HTTP/2
	// badTimeout is whether the timeout cannot be parsed.
	badTimeout bool

	hasField                               bool // a field that is no pseudo-header
	hasMethod, hasPath, hasHost, hasScheme bool
}

type method uint8

const (
	methodOther method = iota
	methodGet
	methodHead
	methodPost
)

var methods = map[string]method{"GET": methodGet, "HEAD": methodHead, "POST": methodPost}

// resource is a page of HTTP or a method of gRPC.
type resource uint8

const (
	resourceNone resource = iota
	resourceCheck
	resourceList
	resourceWatch
	resourceHealth
	resourceReady
	resourceLive
	resourceMetrics
)

// The pages, and the methods of grpc.health.v1.Health.
const (
	healthPage, readyPage, livePage = "/healthz", "/readyz", "/livez"
	metricsPage                     = "/metrics"

	checkPath = "/grpc.health.v1.Health/Check"
	listPath  = "/grpc.health.v1.Health/List"
	watchPath = "/grpc.health.v1.Health/Watch"
)

// setPath sets the resource of a path, which may have a query and, for a page, the name of the bridge.
func (r *request) setPath(path []byte) {
	path, _, _ = bytes.Cut(path, []byte("?"))
	path, owner, isOwned := bytes.Cut(path, []byte("@"))
	r.resource = resources[string(path)]
	if _, isPage := r.resource.isPage(); isOwned && !isPage {
		r.resource = resourceNone
	}
	r.owner = string(owner[:min(len(owner), maxService)])
}

var resources = map[string]resource{
	checkPath: resourceCheck, listPath: resourceList, watchPath: resourceWatch, metricsPage: resourceMetrics,
	healthPage: resourceHealth, readyPage: resourceReady, livePage: resourceLive,
}

// isPage reports whether a resource is a page about a service, and returns the service.
func (r resource) isPage() (service string, ok bool) {
	switch r {
	case resourceHealth:
		return "", true
	case resourceReady:
		return "ready", true
	case resourceLive:
		return "live", true
	}
	return "", false
}

// isCall reports whether a resource can be called as a gRPC method: a method of the health service, or a page.
func (r resource) isCall() bool { return r != resourceNone && r != resourceMetrics }

// take handles a field of an HTTP/2 request (RFC 9113 section 8).
func (r *request) take(name, value []byte) error {
	if len(name) > 0 && name[0] == ':' {
		r.takePseudo(name, value)
		return nil
	}
	r.hasField = true
	if !isFieldName(name, false) || !metadata.IsFieldValue(value) {
		r.malformed = true
		return nil
	}
	switch string(name) {
	case "connection", "proxy-connection", "keep-alive", "transfer-encoding", "upgrade":
		r.malformed = true
	case "host":
		r.malformed = r.malformed || !isHost(value)
	case "te":
		r.malformed = r.malformed || string(value) != "trailers"
	case "content-type":
		r.grpc = isGRPC(string(value))
	case "accept":
		r.json = r.json || bytes.Contains(value, []byte("application/json"))
	case "grpc-timeout":
		r.timeout, r.badTimeout = parseTimeout(string(value))
	}
	return nil
}

// takePseudo handles a pseudo-header. Each of them appears once, before all fields.
func (r *request) takePseudo(name, value []byte) {
	seen := &r.hasMethod
	switch string(name) {
	case ":method":
		r.method = methods[string(value)]
		r.malformed = r.malformed || len(value) == 0
	case ":path":
		seen = &r.hasPath
		r.setPath(value)
		r.malformed = r.malformed || len(value) == 0
	case ":scheme":
		seen = &r.hasScheme
		r.malformed = r.malformed || string(value) != "http" && string(value) != "https"
	case ":authority":
		seen = &r.hasHost
		r.malformed = r.malformed || !isHost(value)
	default:
		r.malformed = true
	}
	r.malformed = r.malformed || *seen || r.hasField || !metadata.IsFieldValue(value)
	*seen = true
}

// isComplete reports whether a request of HTTP/2 is valid and has all pseudo-headers.
func (r *request) isComplete() bool { return !r.malformed && r.hasMethod && r.hasPath && r.hasScheme }

// isFieldName reports whether name is a token (RFC 9110 section 5.6.2). Names of HTTP/2 have no capitals.
func isFieldName(name []byte, capitals bool) bool {
	if capitals {
		name = bytes.ToLower(name)
	}
	return len(name) > 0 && len(bytes.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~")) == 0
}

// isGRPC reports whether a content type is that of gRPC with protocol buffers.
func isGRPC(contentType string) bool {
	return contentType == "application/grpc" || contentType == "application/grpc+proto"
}

var timeoutUnits = map[byte]time.Duration{
	'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond, 'u': time.Microsecond,
	'n': time.Nanosecond,
}

// parseTimeout parses the field grpc-timeout (gRPC over HTTP/2, "Timeout").
func parseTimeout(text string) (timeout time.Duration, bad bool) {
	if text == "" || len(text) > 9 {
		return 0, true
	}
	unit := timeoutUnits[text[len(text)-1]]
	value, err := strconv.ParseUint(text[:len(text)-1], 10, 32)
	if err != nil || unit == 0 {
		return 0, true
	}
	if time.Duration(value) > maxCallTimeout/unit {
		return maxCallTimeout, false
	}
	return max(time.Duration(value)*unit, 1), false
}

// These gRPC status codes are the bridge's own.
const (
	codeInvalidArgument   outcome.Code = 3
	codeResourceExhausted outcome.Code = 8
	codeInternal          outcome.Code = 13
	codeUnavailable       outcome.Code = 14
)
