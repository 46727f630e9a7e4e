// Package bindings makes sure that the service bindings and variables which a platform hands to a build can be read, in
// time and in memory. libcnb reads all of them before either phase begins, and waits for ever for a pipe that nobody
// writes to.
//
// Begin with [Check].
package bindings

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/buildpacks/libcnb/v2"

	"github.com/grpc-cnb/health-probe/internal/intime"
)

const (
	// maxTime is how long all of it may take to read. It is for disks that hang.
	maxTime = 10 * time.Second
	// maxSize is how many bytes all files together may have. Kubernetes' secrets have 1 MiB at most; the rest is for
	// bindings that are folders of other things.
	maxSize = 64 << 20
)

// Check returns an error if one of the files that libcnb will read is no regular file, or if all of them are too large
// or take too long.
func Check() error {
	_, err := intime.Do(func() (struct{}, error) { return struct{}{}, check(maxSize) }, maxTime)
	if _, isLate := errors.AsType[intime.Error](err); isLate {
		return fmt.Errorf("reading the service bindings in %q: %w", root(), err)
	}
	return err
}

func check(left int64) error {
	return errors.Join(checkBindings(&left), checkFolder(platform("env"), &left))
}

// platform returns a folder of the platform (buildpack spec, Platform).
func platform(name string) string { return filepath.Join(os.Getenv(libcnb.EnvPlatformDirectory), name) }

// root returns the folder of the bindings, as libcnb does.
func root() string { return cmp.Or(os.Getenv(libcnb.EnvServiceBindings), platform("bindings")) }

// checkBindings checks the folders of all bindings.
func checkBindings(left *int64) error {
	entries, _ := os.ReadDir(root()) // libcnb says what is wrong, or that there are none
	for _, entry := range entries {
		if err := checkFolder(filepath.Join(root(), entry.Name()), left); err != nil {
			return err
		}
	}
	return nil
}

// checkFolder reads the files of a folder, but not those of folders in it.
func checkFolder(folder string, left *int64) error {
	entries, _ := os.ReadDir(folder) // as above
	for _, entry := range entries {
		file := filepath.Join(folder, entry.Name())
		info, err := os.Stat(file) // Kubernetes' files are symbolic links
		if err != nil || info.IsDir() {
			continue // libcnb says what is wrong, or leaves it out
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("reading %q, of a service binding or a platform's variable: it is not a regular file",
				file)
		}
		if err := checkFile(file, left); err != nil {
			return err
		}
	}
	return nil
}

// checkFile reads a file, and takes its bytes from those that are left.
func checkFile(name string, left *int64) error {
	file, err := os.Open(name)
	if err != nil {
		return nil // libcnb says what is wrong
	}
	defer file.Close()
	n, err := io.Copy(io.Discard, io.LimitReader(file, *left+1))
	if *left -= n; *left < 0 {
		return fmt.Errorf("reading %q, of a service binding or a platform's variable: with it there are more than "+
			"%d MiB", name, maxSize>>20)
	}
	return err
}
