// Package rawfile reads and writes files by system calls alone. Package os would start the poller of Go's runtime,
// which costs each start of a probe time and two descriptors, and which ends the process if it gets none.
//
// Begin with [Read]; [Stream] is a standard stream, and [CheckDescriptors] is for whatever will start the poller
// anyway.
package rawfile
