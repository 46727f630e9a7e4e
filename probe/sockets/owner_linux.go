package sockets

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/rawfile"
)

// markAddress is where the probe listens for a moment, to find itself in the kernel's list. Only probes listen there,
// and pass over each other's listeners.
var markAddress = [4]byte{127, 71, 72, 80}

// rootCgroup is the id of the root control group, for everything without a group.
const rootCgroup = 1

const (
	maxProcesses   = 4096
	maxDescriptors = 1 << 17 // of all processes together
	maxCgroupFile  = 64 << 10
)

// Own returns the container's own listening TCP sockets, then all unix sockets: the owner of a unix socket is known
// only after a connection ([Ask]). The error is why nothing can be listed, or, beside the unix sockets,
// [ErrUnknownOwners].
func Own() ([]Socket, error) {
	all, own, err := listenersAndOwn()
	if err != nil {
		return nil, err
	}
	var mine []listener
	owner := ByCgroup
	for _, l := range all {
		if own > rootCgroup && l.cgroup == own && len(mine) < maxSockets {
			mine = append(mine, l)
		}
	}
	if len(mine) == 0 && len(all) > 0 {
		owner = ByProcess
		var denied bool
		if mine, denied = ownedByProcesses(all); len(mine) == 0 && denied && own <= rootCgroup {
			err = ErrUnknownOwners
		}
	}
	return append(merge(mine, owner), unixSockets()...), err
}

// All returns all listening sockets of the network namespace, with an unknown owner.
func All() ([]Socket, error) {
	all, _, err := listenersAndOwn()
	if err != nil {
		return nil, err
	}
	found := merge(all, Unknown)
	for _, s := range unixSockets() {
		s.Owner = Unknown
		found = append(found, s)
	}
	return found, nil
}

// listenersAndOwn returns the listening TCP sockets, without probes' listeners at markAddress, and the id of this
// container's control group, 0 for unknown.
func listenersAndOwn() (all []listener, own uint64, err error) {
	mark, port := listenAsMark()
	if mark >= 0 {
		defer syscall.Close(mark)
	}
	if all, err = dumpTCP(); err != nil {
		all, err = readTCP()
	}
	kept := all[:0]
	for _, l := range all {
		if ip := l.at.Addr(); !ip.Is4() || ip.As4() != markAddress {
			kept = append(kept, l)
		} else if l.at.Port() == port && isOfVersion2() {
			own = l.cgroup
		}
	}
	return kept, own, err
}

// isOfVersion2 reports whether control groups of version 2 tell containers apart here: a runtime mounts its version
// into a container. A runtime with version 1 may leave all containers in its own group of version 2.
func isOfVersion2() bool {
	const cgroup2SuperMagic = 0x63677270 // statfs(2)
	var mounted syscall.Statfs_t
	return syscall.Statfs("/sys/fs/cgroup", &mounted) == nil && uint32(mounted.Type) == cgroup2SuperMagic
}

// listenAsMark listens at markAddress, where nobody connects. It returns -1 on failure.
func listenAsMark() (fd int, port uint16) {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, 0
	}
	if syscall.Bind(fd, &syscall.SockaddrInet4{Addr: markAddress}) == nil && syscall.Listen(fd, 0) == nil {
		if name, err := syscall.Getsockname(fd); err == nil {
			if at, ok := name.(*syscall.SockaddrInet4); ok {
				return fd, uint16(at.Port)
			}
		}
	}
	syscall.Close(fd)
	return -1, 0
}

// unixSockets returns the unix sockets of the network namespace that have a name to connect to.
func unixSockets() (found []Socket) {
	names, err := dumpUnix()
	if err != nil {
		names, _ = readUnix() // no names with an error
	}
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		addr := "unix:" + name
		if abstract, ok := strings.CutPrefix(name, "@"); ok {
			addr = "unix-abstract:" + abstract
		}
		if parsed, err := address.Parse(addr, address.AnyPort); err == nil {
			found = append(found, Socket{Addr: addr, Address: parsed, Owner: ByPeer})
		}
	}
	return found
}

// ownedByProcesses returns the listeners that processes of this container have open. The result is denied if there may
// be more: a process is hidden (hidepid of proc(5)) or hides its descriptors, or there are too many of either.
func ownedByProcesses(all []listener) (mine []listener, denied bool) {
	byInode := map[string]listener{}
	for _, l := range all {
		byInode["socket:["+strconv.FormatUint(uint64(l.inode), 10)+"]"] = l
	}
	descriptors := maxDescriptors
	ofProcess := func(pid string) bool {
		folder := "/proc/" + pid + "/fd"
		err := eachName(folder, maxDescriptors, func(descriptor string) bool {
			descriptors--
			target, err := os.Readlink(folder + "/" + descriptor)
			denied = denied || errors.Is(err, fs.ErrPermission)
			if l, ok := byInode[target]; ok {
				mine = append(mine, l)
				delete(byInode, target)
			}
			return len(byInode) > 0 && descriptors > 0
		})
		denied = denied || descriptors <= 0 || err != nil && !errors.Is(err, fs.ErrNotExist)
		return len(byInode) > 0 && descriptors > 0
	}
	seesFirst := false
	err := eachName("/proc", maxProcesses, func(pid string) bool {
		if pid[0] < '0' || pid[0] > '9' {
			return true
		}
		seesFirst = seesFirst || pid == "1"
		isOwn, err := inThisContainer(pid)
		denied = denied || err != nil && !errors.Is(err, fs.ErrNotExist)
		return !isOwn || ofProcess(pid)
	})
	return mine, denied || !seesFirst || err != nil
}

var errTooMany = errors.New("too many names")

// eachName hands over the names in a folder until receive returns false. More names than most are errTooMany. eachName
// reads name by name: a listening socket is among the first of a process's thousands of descriptors.
func eachName(folder string, most int, receive func(name string) bool) error {
	fd, err := syscall.Open(folder, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), folder) // os.Open would start the poller of Go's runtime
	defer file.Close()
	for ; most > 0; most-- {
		names, err := file.Readdirnames(1)
		if len(names) == 0 {
			if err == io.EOF {
				err = nil
			}
			return err
		}
		if !receive(names[0]) {
			return nil
		}
	}
	return errTooMany
}

// inThisContainer reports whether a process belongs to this container: the process has the mount namespace of this
// process or, if this user may not see the namespace, the same control groups.
func inThisContainer(pid string) (bool, error) {
	mine, err := os.Readlink("/proc/self/ns/mnt")
	theirs, theirErr := os.Readlink("/proc/" + pid + "/ns/mnt")
	if err == nil && theirErr == nil {
		return mine == theirs, nil
	}
	groups, err := rawfile.Read("/proc/self/cgroup", maxCgroupFile, nil)
	if err != nil {
		return false, err
	}
	others, err := rawfile.Read("/proc/"+pid+"/cgroup", maxCgroupFile, nil)
	return err == nil && len(groups) > 0 && string(groups) == string(others), err
}

// isOwnPeer reports whether a process of this container listens on the unix socket at the far end of fd. The kernel
// returns the id of the process that called listen, in the caller's namespace, 0 without an id there. Another container
// may share the namespace.
func isOwnPeer(fd int) bool {
	peer, err := syscall.GetsockoptUcred(fd, syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	if err != nil || peer.Pid <= 0 {
		return false
	}
	isOwn, _ := inThisContainer(strconv.Itoa(int(peer.Pid))) // false with an error
	return isOwn
}
