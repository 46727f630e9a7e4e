// Package rawfile reads and writes files by system calls alone. Package os would start the poller of Go's runtime. The
// poller costs each start of a probe time and two descriptors, and ends the process if there are none.
//
// Begin with [Read]; [Stream] is a standard stream, and [CheckDescriptors] is for code that will start the poller
// anyway.
package rawfile
