package documents_test

// Reasons why a text of the probe needs no row in docs/troubleshooting.md.
const (
	inAddress   = "it follows `parsing address …:`, which has a row with the ways to write an address"
	inArgsFile  = "the build of the image prints it, after the name of BP_GRPC_HEALTH_PROBE_ARGS"
	inProtocol  = "it follows `server broke the HTTP/2 protocol:`, which has a row"
	inHeaders   = "it follows `server broke the HTTP/2 protocol:` or a status of the call, which have rows"
	inAnswer    = "it is part of a call's status, and says which part of the answer is not gRPC"
	noError     = "it is not an error: the probe passed, or -v or -version asked for it"
	beforeError = "it stands before an error that has a row"
	aPath       = "it is the path of a file"
	aReport     = "it is a line of what -discover prints"
	aMetric     = "it is a line of the bridge's page of metrics"
	toCaller    = "the bridge says it to a caller whose call is wrong, or too much, as the status of the call"
)

// messagesWithoutRow are the texts of the probe that need no row in docs/troubleshooting.md, each with the reason.
var messagesWithoutRow = map[string]string{
	"a scheme is not dns:///, passthrough:/// or unix:///": inAddress,
	"the socket has no name":                               inAddress,
	"the socket's name has a zero byte":                    inAddress,
	"port … is not a number from 1 to 65535":               inAddress,
	"… is not a host":                                      inAddress,

	"formatting args file: argument … has a line break or a zero byte": inArgsFile,
	"formatting args file: … bytes are more than …":                    inArgsFile,
	"give -rpc-header once for each header":                            inArgsFile,
	"use fewer or shorter arguments":                                   inArgsFile,
	"checking default flags: …":                                        inArgsFile,

	"asking …": noError,
	"found …, known as this container's own by its …: …": noError,

	"TLS, certificate for …, valid until …": aReport,
	"  readinessProbe: …\n":                 aReport,
	"  livenessProbe: …\n":                  aReport,

	"too many names":  "it counts as a process that may have more sockets, and is not printed",
	"/proc/…/…":       aPath,
	"serving on …: …": "the bridge's port is gone, which the kernel does to no listener that is open",

	"# TYPE grpc_health_bridge_… …\n# HELP grpc_health_bridge_… …\n": aMetric,
	"grpc_health_bridge_… …\n":                                       aMetric,
	"answers_total{status=…}":                                        aMetric,

	"the bridge takes no compressed messages":   toCaller,
	"service name is over the limit of … bytes": toCaller,

	"it has a zero byte": "it follows `reading args file …:`, which has a row",

	"-rpc-header: … is not sent, since gRPC sets it itself": "a note of -v, which docs/migrating.md explains",
	"; connecting again: ":                                   "it stands between two causes, which have rows",
	"server closes every connection":                         "the cause of the end is printed instead",
	"server broke the HTTP/2 protocol in its SETTINGS frame": inProtocol,

	"took: connect=… rpc=…": noError,
	"attempt …: …":          noError,
	"… …, commit ……, …\n":   noError,

	"error: and … more":             "it counts the errors that are not printed",
	"leave it out for ":             "it is how two hints begin that have rows",
	"trying for … (attempts: …): …": beforeError,
	"waiting for …: …":              "the message of the outcome takes its place",
	"no answer within the timeout":  "the message of the outcome takes its place",
	"unexpected answer":             "a message says which bytes came instead of HTTP/2",
	"preparing the client: …":       "grpc-go refuses an address only if this program is wrong",
	"server ended the watch": "it follows `watching service …: CANCELLED:` or another status, which " +
		"has a row",
	"server sent more than one answer": inAnswer,
	"server sent no answer":            inAnswer,

	"SETTINGS on stream …":                         inProtocol,
	"bad acknowledgement of SETTINGS":              inProtocol,
	"SETTINGS of … bytes":                          inProtocol,
	"initial window of … bytes":                    inProtocol,
	"bad PING":                                     inProtocol,
	"bad GOAWAY":                                   inProtocol,
	"WINDOW_UPDATE of … bytes":                     inProtocol,
	"WINDOW_UPDATE by 0 bytes":                     inProtocol,
	"bad PRIORITY_UPDATE":                          inProtocol,
	"frame is over the limit of … bytes":           inProtocol,
	"padded frame without padding length":          inProtocol,
	"HEADERS frame too short for its priority":     inProtocol,
	"padding of … bytes is longer than the frame":  inProtocol,
	"header block is cut off by a frame of type …": inProtocol,
	"more DATA than the window allows":             inProtocol,
	"more DATA than the stream's window allows":    inProtocol,
	"bad RST_STREAM":                               inProtocol,
	"… frames that carry no answer":                inProtocol,
	"the first frame is of type …, not SETTINGS":   inProtocol,
	"CONTINUATION without HEADERS":                 inProtocol,
	"DATA on stream 0":                             inProtocol,
	"HEADERS on stream 0":                          inProtocol,
	"bad PRIORITY":                                 inProtocol,
	"bad PUSH_PROMISE":                             inProtocol,
	"value of the header …":                        inHeaders,
	"header name …":                                inHeaders,
	"pseudo-header …":                              inHeaders,
	"pseudo-header … after a header":               inHeaders,
	"pseudo-header … beside …":                     inHeaders,

	"headers are over the limit of … bytes": inHeaders,
	"invalid header block":                  inHeaders,
	"invalid Huffman code":                  inHeaders,

	"it is over the limit of … bytes":                                               inAnswer,
	"message is not a valid protocol buffer":                                        inAnswer,
	"message of … bytes is over the limit of …":                                     inAnswer,
	"message is neither compressed nor not":                                         inAnswer,
	"message is compressed with …":                                                  inAnswer,
	"decompressing the message: ":                                                   inAnswer,
	"server sent headers twice":                                                     inAnswer,
	"server sent no base64 in the header …":                                         inAnswer,
	"server ended the call without headers":                                         inAnswer,
	"server ended the call with grpc-status …, and with another one in its details": inAnswer,
	"server ended the call with grpc-status …":                                      inAnswer,
	"server ended the call within a message":                                        inAnswer,
	"headers of … bytes are over the server's limit of …": "it is part of a call's status: " +
		"the headers of -rpc-header are too long for the server",
	"server answered with HTTP status … and content type …, not application/grpc": "its hint has a row, which " +
		"describes the message",
}
