package check

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/options"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/sockets"
)

// maxServers is the greatest number of servers asked for their health at the same time.
const maxServers = 16

// search asks a server without an address from the user. The address found by the build goes first. If that address
// refuses or has no gRPC server, the container's own sockets are asked: only the kernel's data about sockets tells this
// container's server from a sidecar's.
func (p *Prober) search() error {
	if servers := p.askRemembered(); servers != nil {
		return p.adopt(decisive(servers))
	}
	if p.Options.Addr == "" {
		return p.searchSockets(nil)
	}
	known := p.serverAt(&sockets.Socket{Addr: p.Options.Addr, Address: p.Options.Address}, p.Options.Search.TLS)
	known.err = known.reach()
	return p.searchBeside(known)
}

// searchBeside ends the search if a gRPC server has answered at the address found by the build.
func (p *Prober) searchBeside(known *server) error {
	known = p.askOtherWay(known)
	if !known.isNoServer() || !p.Options.Search.Enabled {
		return p.adopt([]*server{known})
	}
	p.notef("%v", known.err)
	return p.searchSockets(known)
}

// searchSockets asks the container's own sockets; known is the answer at the address found by the build, or nil.
func (p *Prober) searchSockets(known *server) error {
	began := time.Now()
	found, unknown := sockets.Own()
	listed := names(found)
	if unknown != nil && len(found) == 0 {
		return p.cannotSearch(known, unknown)
	}
	if known != nil {
		found = slices.DeleteFunc(found, func(s sockets.Socket) bool {
			return sameEndpoint(s.Address, p.Options.Address)
		})
	}
	servers, found, err := p.askFound(found)
	if err != nil {
		return p.cannotSearch(known, err)
	}
	if p.Options.Watch && len(servers) > 1 {
		return outcome.Misuse(fmt.Errorf("-watch follows one server, and this container has several servers: %s",
			describe(found, servers)), "set -addr")
	}
	if decisive := decisive(servers); decisive != nil {
		p.Memory.remember(slices.DeleteFunc(servers, (*server).isNoServer), listed, began)
		return p.adopt(decisive)
	}
	if unknown != nil {
		return p.cannotSearch(known, unknown)
	}
	return notFound(known, found, servers)
}

// askRemembered asks the servers found by the last search. The result is nil if there are none, or if the servers may
// have changed.
func (p *Prober) askRemembered() []*server {
	remembered := p.Memory.recall()
	if len(remembered) == 0 {
		return nil
	}
	servers := make([]*server, len(remembered))
	var running sync.WaitGroup
	for i, s := range remembered {
		running.Go(func() { servers[i] = p.askWith(s.socket, s.tls()) })
	}
	running.Wait()
	if slices.ContainsFunc(servers, (*server).isNoServer) {
		return nil
	}
	return servers
}

// askFound asks the possible gRPC servers among the sockets for their health. A single socket is asked at once; of
// several sockets the protocols are found out first. The result includes the sockets with their protocols.
func (p *Prober) askFound(found []sockets.Socket) (servers []*server, asked []sockets.Socket, err error) {
	deadline := p.Options.Budget.Search()
	if len(found) == 1 && found[0].Owner != sockets.ByPeer && p.Options.Mode == options.ModeReady && p.Memory == nil {
		return p.askAll(found), found, nil // if it is a bridge, it is not ready before its server is
	}
	reach := sockets.Likely
	if p.Options.Search.Alone && !p.Options.Search.TLS {
		reach = sockets.OneServer
	}
	for _, reach := range []sockets.Reach{reach, sockets.Everyone} {
		until := deadline
		if reach != sockets.Everyone {
			until = time.Now().Add(time.Until(deadline) / 2)
		}
		if found, err = sockets.Ask(found, reach, until); err != nil {
			return nil, nil, err
		}
		for _, s := range found {
			p.notef("found %s, known as this container's own by its %s: %s", s.Addr, s.Owner, s.Speaks)
		}
		servers = append(servers, p.askAll(slices.DeleteFunc(slices.Clone(found), func(s sockets.Socket) bool {
			asked := slices.ContainsFunc(servers, func(a *server) bool { return a.socket.Addr == s.Addr })
			return asked || !mayServe(p.Options, s.Speaks)
		}))...)
		if slices.ContainsFunc(servers, (*server).hasHealth) ||
			!slices.ContainsFunc(found, func(s sockets.Socket) bool { return s.Speaks == outcome.NotAsked }) {
			break
		}
	}
	return servers, found, nil
}

// mayServe reports whether a gRPC server may be behind a socket with the given protocol.
func mayServe(o *options.Options, speaks outcome.Protocol) bool {
	return speaks == outcome.HTTP2 || speaks.MayHaveTLS() || o.Secured() && speaks == outcome.Silent
}

// server is a socket asked for its health.
type server struct {
	socket  *sockets.Socket
	*Prober // that has asked it
	err     error
}

func (s *server) tls() bool { return s.Options.TLS }

// askAll asks sockets for their health. A Watch, which has no end, asks none of several sockets.
func (p *Prober) askAll(found []sockets.Socket) []*server {
	return AskEach(found, func(s *sockets.Socket) *server {
		if p.Options.Watch && len(found) > 1 {
			return p.serverAt(s, false)
		}
		return p.askAt(s)
	})
}

// AskEach calls a function with each of the sockets, up to maxServers at the same time, and returns the answers in the
// order of the sockets.
func AskEach[A any](found []sockets.Socket, ask func(s *sockets.Socket) A) (answers []A) {
	if len(found) == 1 {
		return []A{ask(&found[0])}
	}
	for some := range slices.Chunk(found, maxServers) {
		asked := make([]A, len(some))
		var running sync.WaitGroup
		for i := range some {
			running.Go(func() { asked[i] = ask(&some[i]) })
		}
		running.Wait()
		answers = append(answers, asked...)
	}
	return answers
}

// askAt asks a socket for its health. Without flags for the security of the connection, plain text is tried and then
// TLS, or the reverse on signs of TLS from the build; TLS alone if plain text was tried before. No certificate is
// verified then: the kernel has proved already that the server is the container's own.
func (p *Prober) askAt(s *sockets.Socket) *server {
	if s.Speaks.MayHaveTLS() && !p.Options.Secured() { // sockets.Ask has asked it in plain text
		return p.askWith(s, true)
	}
	return p.askOtherWay(p.askWith(s, s.Speaks == "" && p.Options.Search.TLS))
}

// askOtherWay repeats the question with TLS if a socket has answered to plain text as servers with TLS do, or in plain
// text if a socket has answered to TLS without gRPC, and returns the answer that counts.
func (p *Prober) askOtherWay(answer *server) *server {
	speaks := answer.speaks()
	if p.Options.Secured() || speaks == "" || !answer.tls() && !speaks.MayHaveTLS() {
		return answer
	}
	other := p.askWith(answer.socket, !answer.tls())
	if other.speaks() == "" || answer.tls() { // what was said in plain text tells more
		return other
	}
	return answer
}

// askWith asks a socket, with TLS in addition to flags if secure is true.
func (p *Prober) askWith(s *sockets.Socket, secure bool) *server {
	asked := p.serverAt(s, secure)
	asked.err = asked.reach()
	return asked
}

// serverAt returns a socket for a later question. Inlined, serverAt would be on the stack during the calls, and the
// stack has to stay under 4 KB.
//
//go:noinline
func (p *Prober) serverAt(s *sockets.Socket, secure bool) *server {
	o := new(options.Options)
	*o = *p.Options
	o.Addr, o.Address, o.WantsCert = s.Addr, s.Address, new(atomic.Bool)
	if secure && !o.Secured() {
		o.TLS, o.TLSNoVerify = true, true
	}
	one := &Prober{Transport: p.Transport, Options: o, Note: p.Note, Lists: p.Lists, Change: p.Change}
	return &server{socket: s, Prober: one}
}

// speaks returns the protocol of an answer without gRPC, or "".
func (s *server) speaks() outcome.Protocol {
	if s.err == nil {
		return ""
	}
	return outcome.FailuresOf(s.err).Worst().Speaks
}

// isNoServer reports whether no gRPC server is there: nothing listens, or something else answers. A socket without an
// answer in time may be a server.
func (s *server) isNoServer() bool {
	return s.speaks() != "" || s.err != nil && outcome.FailuresOf(s.err).Worst().IsRefused()
}

// hasHealth reports whether the server has answered with its health, or failed to.
func (s *server) hasHealth() bool {
	if s.isNoServer() {
		return false
	}
	code := outcome.ExitServing
	if s.err != nil {
		code = outcome.FailuresOf(s.err).Worst().Code
	}
	return (code != outcome.ExitConnection || s.socket.Speaks == outcome.HTTP2) && !s.answers(outcome.CodeUnimplemented)
}

// answers reports whether the server has ended all its calls with the given status of gRPC.
func (s *server) answers(code outcome.Code) bool {
	if s.isNoServer() {
		return false
	}
	isCode := func(err error) bool {
		failed, ok := errors.AsType[*outcome.RPCError](err)
		return ok && failed.Code == code
	}
	if s.report.Answers == nil {
		return isCode(s.err)
	}
	return !slices.ContainsFunc(s.report.Answers, func(a outcome.Answer) bool { return !isCode(a.Err) })
}

// decisive returns the servers that decide the outcome: servers with a health service that knows the services asked
// for; failing that, servers with a health service; failing that, servers without; then servers that fail otherwise.
func decisive(servers []*server) []*server {
	for _, counts := range []func(*server) bool{
		func(s *server) bool { return s.hasHealth() && !s.answers(outcome.CodeNotFound) },
		(*server).hasHealth,
		func(s *server) bool { return s.answers(outcome.CodeUnimplemented) },
		func(s *server) bool { return !s.isNoServer() },
	} {
		chosen := slices.DeleteFunc(slices.Clone(servers), func(s *server) bool { return !counts(s) })
		if len(chosen) > 0 {
			return chosen
		}
	}
	return nil
}

// adopt makes the outcome of servers the outcome of the probe.
func (p *Prober) adopt(servers []*server) error {
	attempts := p.report.Attempts
	p.report = servers[0].report
	p.report.Attempts, p.report.Answers = attempts, nil
	var failed outcome.Failures
	var addresses []string
	for _, s := range servers {
		addresses = append(addresses, s.socket.Addr)
		p.success, p.notes = cmp.Or(s.success, p.success), append(p.notes, s.notes...)
		p.report.Answers = append(p.report.Answers, s.report.Answers...)
		p.report.Connect, p.report.RPC = max(p.report.Connect, s.report.Connect), max(p.report.RPC, s.report.RPC)
		p.report.Discovered = append(p.report.Discovered, outcome.Discovered{
			Address: s.socket.Addr, TLS: s.tls(), Owner: string(s.socket.Owner), Passes: s.err == nil,
		})
		for _, f := range outcome.FailuresOf(s.err) {
			if len(servers) > 1 {
				f.Err = fmt.Errorf("server at %s: %w", s.socket.Addr, f.Err)
			}
			if s.tls() && !p.Options.TLS && strings.Contains(string(f.Hint), "-tls-") {
				f.Hint = outcome.Hint(fmt.Sprintf("%s; flags -tls-... need -tls", f.Hint))
			}
			failed = append(failed, f)
		}
	}
	p.report.Address = strings.Join(addresses, ", ")
	if failed == nil {
		return nil
	}
	return failed
}

// cannotSearch returns the outcome if the container's sockets cannot be known.
func (p *Prober) cannotSearch(known *server, err error) error {
	if known != nil {
		return p.adopt([]*server{known})
	}
	if fallback := p.Options.Search.Fallback; fallback != "" {
		parsed, parseErr := address.Parse(fallback, LookUpPort)
		if parseErr != nil {
			return parseErr
		}
		return p.adopt([]*server{p.askAt(&sockets.Socket{Addr: fallback, Address: parsed})})
	}
	return &outcome.Failure{
		Code: outcome.ExitConnection, Class: outcome.ClassLookup, Err: fmt.Errorf("looking for the server: %w", err),
		Hint: "set -addr, or GRPC_HEALTH_PROBE_ADDR in the container",
	}
}

// notFound returns the failure for a container without a gRPC server.
func notFound(known *server, found []sockets.Socket, servers []*server) error {
	seen := describe(found, servers)
	if known != nil {
		failed := outcome.FailuresOf(known.err)
		for _, f := range failed {
			f.Err = fmt.Errorf("%w; no other socket of this container is a gRPC server (%s)", f.Err, seen)
		}
		return failed
	}
	f := outcome.NoConnection(outcome.ClassConnect,
		errors.New("looking for the server: this container listens on nothing"),
		"is the server up? For a server in another container, set -addr")
	if len(found) > 0 {
		f.Err = fmt.Errorf("looking for the server: no socket of this container is a gRPC server (%s)", seen)
		f.Hint = "is the server up? If one of these is the server, set -addr; -discover says more about each"
	}
	return f
}

// maxDescribed is the greatest number of sockets in an error.
const maxDescribed = 10

// describe returns the sockets with their protocols.
func describe(found []sockets.Socket, servers []*server) string {
	if len(found) == 0 {
		return "there is none"
	}
	var words []string
	for i, s := range found {
		if i == maxDescribed {
			words = append(words, fmt.Sprintf("%d more", len(found)-i))
			break
		}
		speaks := s.Speaks
		for _, asked := range servers {
			if answer := asked.speaks(); asked.socket.Addr == s.Addr && answer != "" {
				speaks = answer
			}
		}
		words = append(words, s.Addr+": "+string(speaks))
	}
	return strings.Join(words, ", ")
}

// sameEndpoint reports whether two addresses lead to the same socket.
func sameEndpoint(a, b address.Address) bool { return a.Endpoints[0] == b.Endpoints[0] }
