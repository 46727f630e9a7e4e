// Package probe is the command line of the gRPC health probe: its flags, the sources of their values, the rules between
// them, and what the probe does, prints and exits with.
//
// In go the words of a command line, the environment, and the args file beside the executable. Out come an exit code
// ([ExitCode]), lines on standard error and, where asked for, help or the version on standard output. The network is
// behind [Transport], so programs that differ only in their transport have the same flags and the same messages. That
// is why the package links no library for gRPC or HTTP.
//
// Begin reading at [Main]. The build of an image uses [ReadDefaults], [FormatArgsFile], [RedactArgs] and [Flags].
package probe
