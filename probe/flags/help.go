package flags

import (
	"flag"
	"strings"
)

const helpHead = `Usage: grpc_health_probe [flags]

Asks a gRPC server for its health (grpc.health.v1.Health/Check) and answers
with the exit code. -x and --x, -x=value and -x value are the same.

Flags:
`

// AddressSources is the part of a text for -h about the sources of an address that no flag or variable sets.
const AddressSources = `  4. for the address only: what the build found in the app and wrote to
     ../../config/` + AddressFileName + `: the value of the variable
     that the app reads, else the address in its source
  5. for the address only, if no gRPC server answers there: the sockets on which
     this container itself listens, with TLS or without
  6. for the address only, if these cannot be told: localhost:$PORT
`

const helpTail = `
Where a value comes from, first found wins (-v shows it):
  1. a flag
  2. an environment variable: GRPC_HEALTH_PROBE_ and the flag in capitals, such
     as GRPC_HEALTH_PROBE_CONNECT_TIMEOUT. Empty is unset; _RPC_HEADER and
     _RPC_HEADER_FILE take one per line; _VERSION is ignored.
  3. the args file, one argument per line: ../../config/` + ArgsFileName + `,
     relative to the folder of this program
` + AddressSources + `     -discover shows the sockets, and -discover=false turns 5 off.

Addresses: host:port, :port, [::1]:port, unix:path, unix:///path,
unix-abstract:name, unix:@name, and dns:, dns:///, passthrough: or
passthrough:/// before host:port. An empty or wildcard host is this machine. A
port may be a name from /etc/services. The probe never uses a proxy.

Exit codes:
   0  every status is SERVING, or what -mode asks for is true
   1  the flags or the configuration are wrong
   2  no connection within -connect-timeout: name lookup, TCP or unix connect,
      TLS handshake, or no HTTP/2 SETTINGS frame from the server
   3  the RPC failed or took longer than -rpc-timeout
   4  the status is not SERVING
  20  no credentials from the SPIFFE Workload API
With several services, the worst outcome decides: 2, then 3, then 4, then 0. No
answer is worse than a bad one. With -wait, the last attempt counts; 1 and 20 end
the probe at once.
`

// help is the text for -h.
func help() string { return helpHead + Describe(newSet(newValues())) + helpTail }

// Describe returns the part of a text for -h about flags.
func Describe(set *flag.FlagSet) string {
	var text strings.Builder
	set.SetOutput(&text)
	set.PrintDefaults()
	return text.String()
}
