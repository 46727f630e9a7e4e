package peers

import "strings"

// row is one thing to ask of servers.
type row struct {
	on    string // the servers, a pattern of path.Match for MAKER/NAME
	as    string // speak as to servers of this name, in place of the server's own
	flags string // the flags beside -addr and those of TLS, separated by spaces
	exit  int    // the exit code
	// ownWords: the text of the gRPC error is the probe's own, as what came was no gRPC, or too much, or nothing. Its
	// code has to be the same.
	ownWords bool
	noBridge string // why no bridge is asked
}

// watched is about a flag that a bridge refuses.
const watched = "a bridge has no -watch, but Health/Watch, for its callers"

var table = []row{
	{on: "*/plain", exit: 0},
	{on: "*/plain", flags: "-gzip", exit: 0},
	{on: "*/plain", flags: "-service=down", exit: 4},
	{on: "*/plain", flags: "-service=nobody", exit: 3},
	{on: "*/plain", flags: "-service=slow -rpc-timeout=300ms", exit: 3, ownWords: true},
	{on: "*/plain", flags: "-service=,down", exit: 4},
	{on: "*/plain", flags: "-service=,nobody,down", exit: 3},
	{on: "*/plain", flags: "-service=slow,down, -rpc-timeout=1s", exit: 3, ownWords: true},
	{on: "*/plain", flags: "-mode=live -service=down,nobody", exit: 0},
	{on: "*/plain", flags: "-mode=live -service=slow -rpc-timeout=300ms", exit: 3, ownWords: true},
	{on: "*/plain", flags: "-mode=connect", exit: 0},
	{on: "*/plain", as: "tls", exit: 2},
	{on: "*/plain", as: "tls", flags: "-mode=connect", exit: 2},

	{on: "*/tls", exit: 0},
	{on: "*/tls", flags: "-gzip", exit: 0},
	{on: "*/tls", flags: "-service=down", exit: 4},
	{on: "*/tls", flags: "-service=nobody", exit: 3},
	{on: "*/tls", flags: "-service=slow -rpc-timeout=300ms", exit: 3, ownWords: true},
	{on: "*/tls", flags: "-service=,nobody,down", exit: 3},
	{on: "*/tls", flags: "-mode=connect", exit: 0},
	{on: "*/tls", flags: "-tls-server-name=other.example", exit: 2},
	{on: "*/tls", as: "plain", exit: 2},

	{on: "*/mtls", exit: 0},
	{on: "*/mtls", flags: "-service=,down", exit: 4},
	{on: "[^n]*/mtls", as: "tls", exit: 2},
	{on: "net-http/mtls", as: "tls", exit: 2},
	{on: "node/mtls", as: "tls", exit: 2},
	{on: "nginx/mtls", as: "tls", exit: 3, ownWords: true}, // nginx refuses with an HTTP status

	{on: "*/tight", exit: 0},
	{on: "*/tight", flags: "-gzip", exit: 0},
	{on: "*/tight", flags: "-service=down", exit: 4},
	{on: "*/tight", flags: "-service=nobody", exit: 3},
	{on: "*/tight", flags: "-service=,down,nobody", exit: 3},

	{on: "grpc-*/bare", exit: 3},
	{on: "grpc-*/bare", flags: "-mode=live", exit: 0},
	{on: "c-core/bare", exit: 3},
	{on: "net-http/bare", exit: 3},
	{on: "nginx/bare", exit: 3},
	{on: "connect-go/bare", exit: 3, ownWords: true},
	{on: "node/bare", exit: 3, ownWords: true},
	{on: "node/bare", flags: "-mode=live", exit: 3, ownWords: true},
	{on: "nginx/orphan", exit: 3, ownWords: true},
	{on: "nginx/orphan", flags: "-mode=live", exit: 3, ownWords: true},
	{on: "nginx/http1", exit: 2},

	{on: "grpc-go/plain", flags: "-all", exit: 4},
	{on: "nginx/plain", flags: "-all", exit: 4},
	{on: "net-http/plain", flags: "-all", exit: 4},
	{on: "grpc-java/plain", flags: "-all", exit: 3},
	{on: "c-core/plain", flags: "-all", exit: 3},
	{on: "node/plain", flags: "-all", exit: 3},
	{on: "connect-go/plain", flags: "-all", exit: 3, ownWords: true},

	{on: "grpc-go/unix", exit: 0},
	{on: "grpc-go/keepalive", exit: 0},
	{on: "grpc-go/leaving", exit: 0}, // it closes each connection after a millisecond, calls in progress apart
	{on: "grpc-go/leaving", flags: "-service=,down,nobody", exit: 3},
	{on: "grpc-go/leaving", flags: "-service=slow -rpc-timeout=300ms", exit: 3, ownWords: true},
	{on: "grpc-go/plain", flags: "-rpc-header=te:x -rpc-header=user-agent:x -rpc-header=grpc-timeout:x", exit: 0},
	{on: "grpc-go/plain", flags: "-rpc-header=connection:close", exit: 3, ownWords: true}, // HTTP/2 has no such header
	{on: "grpc-go/plain", flags: "-rpc-header=host:a -rpc-header=grpc-previous-rpc-attempts:1", exit: 0},
	{on: "grpc-go/single", flags: "-service=,down,nobody", exit: 3},
	{on: "grpc-go/many", flags: "-all", exit: 0},
	{on: "grpc-go/many", flags: "-all -gzip", exit: 0},
	{on: "grpc-go/toomuch", flags: "-all", exit: 3, ownWords: true}, // more than a probe takes
	{on: "grpc-go/toomuch", flags: "-all -gzip", exit: 3, ownWords: true},
	{on: "grpc-go/toomuch", flags: "-all -mode=live", exit: 3, ownWords: true},
	{on: "grpc-go/guarded", exit: 3},
	{on: "grpc-go/guarded", flags: "-mode=live", exit: 0},
	{on: "grpc-go/guarded", flags: "-rpc-header=token:sesame", exit: 0},
	{on: "grpc-go/headers", exit: 0},
	{on: "grpc-go/headers", flags: "-rpc-header=long:" + strings.Repeat("x", 1000), exit: 3, ownWords: true},
	{on: "grpc-go/messages", flags: "-service=nobody", exit: 3},
	{on: "grpc-go/plain", flags: "-service=long", exit: 3},
	{on: "grpc-go/plain", flags: "-service=" + strings.Repeat("x", 100_000), exit: 3}, // more than fits into a window
	{on: "grpc-go/plain", flags: "-rpc-header=long:" + strings.Repeat("x", 100_000), exit: 0},
	{on: "grpc-go/plain", flags: "-timeout=2s -service=slow", exit: 3, ownWords: true},
	{on: "grpc-go/plain", flags: "-timeout=2s -watch", exit: 0, noBridge: watched},
	{on: "grpc-go/plain", flags: "-timeout=2s -watch -service=nobody", exit: 4, noBridge: watched},
	{on: "grpc-go/bare", flags: "-timeout=2s -watch", exit: 3, noBridge: watched},
}
