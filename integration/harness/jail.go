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

// jail is the root folder of programs that run as the image's user. As root, this process uses chroot; otherwise a user
// namespace, in which every user may call chroot.
type jail string

// Isolation returns how the platform without Docker isolates programs: "chroot" or "user namespace".
func Isolation() string {
	if os.Geteuid() == 0 {
		return "chroot"
	}
	return "user namespace"
}

// command returns a command for a program of the jail, with only the given environment.
func (j jail) command(ctx context.Context, env []string, folder string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env, cmd.Dir = env, folder
	// The kernel ends the program together with the starting thread (prctl(2)): at the end of this process, since no
	// goroutine ends a thread here.
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

// own makes the jail's user the owner of all files. In a user namespace the files have that owner already.
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

// explain adds advice to an error if the kernel refuses a jail: EPERM if only root may make user namespaces or call
// chroot there, ENOSPC if the limit of user namespaces is zero.
func explain(err error) error {
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w (this kernel keeps users from making user namespaces: use Docker, or run as root)", err)
	}
	return err
}
