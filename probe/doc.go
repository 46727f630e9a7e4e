// Package probe is the program of the gRPC health probe: what it does, prints and exits with.
//
// In go the process's arguments, environment and files, which package flags makes options of. Out come an exit code
// ([outcome.ExitCode]), lines on standard error and, if asked for, help or the version on standard output. The network
// is behind [check.Transport], so programs that differ only in their transport have the same flags and the same
// messages. That is why the package links no library for gRPC or HTTP.
//
// Begin reading at [Main].
package probe
