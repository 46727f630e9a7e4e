package harness

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// jail is a folder that its programs see as the root of the file system. They run as the image's user. If this process
// is root, it uses chroot, otherwise a user namespace, in which every user may call chroot.
type jail string

// Isolation returns how the platform without Docker isolates programs: "chroot" or "user namespace".
func Isolation() string {
	if os.Geteuid() == 0 {
		return "chroot"
	}
	return "user namespace"
}

// command returns a command that runs a program of the jail, with only the given environment.
func (j jail) command(ctx context.Context, env []string, folder string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env, cmd.Dir = env, folder
	// The kernel ends it together with the thread that starts it (prctl(2)). No goroutine ends a thread here, so that
	// is the end of this process.
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: string(j), Pdeathsig: syscall.SIGKILL}
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: userID, Gid: groupID}
		return cmd
	}
	cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
	cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: userID, HostID: os.Getuid(), Size: 1}}
	cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: groupID, HostID: os.Getgid(), Size: 1}}
	return cmd
}

// own makes the jail's user the owner of its files. In a user namespace they have that owner already.
func (j jail) own() error {
	if os.Geteuid() != 0 {
		return nil
	}
	return filepath.WalkDir(string(j), func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, userID, groupID)
	})
}

// explain adds to an error what to do if the kernel refuses a jail: EPERM if only root may make user namespaces or call
// chroot in them, ENOSPC if their number is limited to none.
func explain(err error) error {
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w (this kernel keeps users from making user namespaces: use Docker, or run as root)", err)
	}
	return err
}
