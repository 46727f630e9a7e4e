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

// AddressSources is what a text for -h says about where an address comes from that nothing else sets.
const AddressSources = `  4. for the address alone: the address that the build of the image has found in
     the app, in ../../config/` + AddressFileName + `: what the app
     is given by the variable that it reads, or else what its source states
  5. for the address alone: localhost:$PORT
`

const helpTail = `
Where a value comes from, first found wins (-v shows it):
  1. a flag
  2. an environment variable: GRPC_HEALTH_PROBE_ and the flag in capitals, such
     as GRPC_HEALTH_PROBE_CONNECT_TIMEOUT. Empty is unset; _RPC_HEADER and
     _RPC_HEADER_FILE take one per line; _VERSION is ignored.
  3. the args file: ../../config/` + ArgsFileName + ` seen from the
     folder of this program, one argument per line
` + AddressSources + `
Addresses: host:port, :port, [::1]:port, unix:path, unix:///path,
unix-abstract:name, unix:@name, and host:port behind dns:, dns:///, passthrough:
or passthrough:///. An empty or wildcard host is this machine, a port may be a
name of /etc/services. Proxies are never used.

Exit codes:
   0  every status is SERVING, or what -mode asks for instead holds
   1  the flags or the configuration are wrong
   2  no connection within -connect-timeout: name lookup, TCP or unix connect,
      TLS handshake, or no HTTP/2 SETTINGS frame from the server
   3  the RPC failed or took longer than -rpc-timeout
   4  the status is not SERVING
  20  no credentials from the SPIFFE Workload API
Of several services the worst decides: from 0 over 4 and 3 to 2 it gets worse,
since not to be able to ask is worse than a bad answer. With -wait it is the last
attempt that counts; 1 and 20 end at once.
`

// help is the text for -h.
func help() string { return helpHead + Describe(newSet(newValues())) + helpTail }

// Describe returns what a text for -h says about flags.
func Describe(set *flag.FlagSet) string {
	var text strings.Builder
	set.SetOutput(&text)
	set.PrintDefaults()
	return text.String()
}
