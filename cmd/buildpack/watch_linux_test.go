package main

import (
	"bytes"
	"encoding/binary"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// removesFirst is the command "removesfirst NAME PROGRAM DIR...": it runs the program and fails unless NAME is the
// first that is removed from any of the folders, as the kernel has noted it (inotify(7)).
func removesFirst(ts *testscript.TestScript, neg bool, args []string) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	ts.Check(err)
	defer unix.Close(fd)
	for _, dir := range args[2:] {
		_, err := unix.InotifyAddWatch(fd, ts.MkAbs(dir), unix.IN_DELETE)
		ts.Check(err)
	}
	ts.Check(ts.Exec(args[1]))
	event := make([]byte, 1<<16)
	n, err := unix.Read(fd, event)
	ts.Check(err)
	end := unix.SizeofInotifyEvent + binary.NativeEndian.Uint32(event[12:unix.SizeofInotifyEvent])
	if name := bytes.TrimRight(event[unix.SizeofInotifyEvent:min(int(end), n)], "\x00"); string(name) != args[0] {
		ts.Fatalf("%s is removed first", name)
	}
}
