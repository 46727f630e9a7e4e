// Package probe is the command line of the gRPC health probe: flags, the
// sources of their values, the rules between them, outcomes and what is
// printed about them.
//
// In go the words of a command line, the environment and the args file beside
// the executable; out come an exit code ([ExitCode]), lines on standard error
// and, where asked for, help or the version on standard output. The network is
// behind [Transport], so that programs that differ in nothing but their
// transport share every flag and every message. The package therefore links
// neither a gRPC nor an HTTP library.
//
// Begin reading at [Main]; the build of an image uses [ReadDefaults],
// [FormatArgsFile] and [RedactArgs].
package probe
