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

// jail is a folder that the programs in it see as the root of the file system, running as the image's user: by chroot
// where this process is root, else in a user namespace, where anybody may chroot.
type jail string

// Isolation says by which means the road without Docker keeps programs in their root: "chroot" or "user namespace".
func Isolation() string {
	if os.Geteuid() == 0 {
		return "chroot"
	}
	return "user namespace"
}

// command is a program of the jail, with exactly the environment given.
func (j jail) command(ctx context.Context, env []string, folder string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env, cmd.Dir = env, folder
	// It ends with the thread that starts it (prctl(2)), which here is with this process: no goroutine ends a thread.
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

// own gives the jail's files to its user. In a user namespace they are its user's already.
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

// explain adds what to do about a jail that the kernel refuses: EPERM where only root may make user namespaces or chroot
// in them, ENOSPC where their number is limited to none.
func explain(err error) error {
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w (this kernel keeps users from making user namespaces: use Docker, or run as root)", err)
	}
	return err
}
