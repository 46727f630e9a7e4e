package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// The folders of the app and of the buildpack's layers in an image (platform spec).
const (
	workspace = "/workspace"
	layers    = "/layers/grpc-cnb_health-probe"
)

// enter gives the process a separate root folder: this machine's files are readable, writes go to memory, and the app's
// folder and the layers are at their places in an image.
func enter(j job) error {
	root := filepath.Join(j.Folder, "root")
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	if err := errors.Join(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount("tmpfs", root, "tmpfs", 0, "")); err != nil {
		return fmt.Errorf("making the root folder: %w", err)
	}
	upper, work, merged := filepath.Join(root, "upper"), filepath.Join(root, "work"), filepath.Join(root, "merged")
	for _, folder := range []string{upper, work, merged} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			return err
		}
	}
	options := fmt.Sprintf("lowerdir=/,upperdir=%s,workdir=%s", upper, work)
	if err := unix.Mount("overlay", merged, "overlay", 0, options); err != nil {
		return fmt.Errorf("making the root folder: %w", err)
	}
	if err := fill(j, merged); err != nil {
		return err
	}
	return errors.Join(unix.Chroot(merged), os.Chdir(workspace), loopback())
}

func fill(j job, root string) error {
	p := place{j.Folder}
	err := unix.Mount("proc", filepath.Join(root, "proc"), "proc", 0, "")
	// First, because the folders below may be in /run or /tmp.
	for _, folder := range []string{"/run", "/tmp"} {
		err = errors.Join(err, unix.Mount("tmpfs", filepath.Join(root, folder), "tmpfs", 0, "mode=1777"))
	}
	for _, m := range []struct{ from, to string }{
		{"/dev", "/dev"},
		{p.source(), workspace},
		{p.layers(), layers},
		{p.folder, p.folder},
		{j.Buildpack, j.Buildpack},
	} {
		to := filepath.Join(root, m.to)
		err = errors.Join(err, os.MkdirAll(to, 0o755), unix.Mount(m.from, to, "", unix.MS_BIND|unix.MS_REC, ""))
	}
	if err != nil {
		return fmt.Errorf("filling the root folder: %w", err)
	}
	return nil
}

// loopback switches on the only network interface.
func loopback() error {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening a socket: %w", err)
	}
	request, err := unix.NewIfreq("lo")
	if err == nil {
		request.SetUint16(unix.IFF_UP)
		err = unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, request)
	}
	if err = errors.Join(err, unix.Close(s)); err != nil {
		return fmt.Errorf("switching loopback on: %w", err)
	}
	return nil
}
