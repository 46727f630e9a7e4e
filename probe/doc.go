// Package probe is the program of the gRPC health probe: actions, output and exit codes.
//
// In go the process's arguments, environment and files, which package flags turns into options. Out come an exit code
// ([outcome.ExitCode]), lines on standard error and, on request, help or the version on standard output. The network is
// behind [check.Transport], so programs with different transports have the same flags and messages, and the package
// links no library for gRPC or HTTP.
//
// Begin reading at [Main].
package probe
