// Package bindings checks that a platform's service bindings and variables for a build can be read, in time and in
// memory. libcnb reads all bindings and variables before either phase begins, and waits for ever for a pipe without a
// writer.
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
	// maxTime bounds the time to read all files, for disks that hang.
	maxTime = 10 * time.Second
	// maxSize bounds the bytes of all files together. Kubernetes' secrets have 1 MiB at most; the rest is for bindings
	// from folders that are not secrets.
	maxSize = 64 << 20
)

// Check returns an error if one of libcnb's files is no regular file, or if all files together exceed 64 MiB or take
// longer than 10 seconds.
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

// platform returns a folder of the platform directory (buildpack spec, Platform).
func platform(name string) string { return filepath.Join(os.Getenv(libcnb.EnvPlatformDirectory), name) }

// root returns the folder of the bindings, like libcnb.
func root() string { return cmp.Or(os.Getenv(libcnb.EnvServiceBindings), platform("bindings")) }

func checkBindings(left *int64) error {
	entries, _ := os.ReadDir(root()) // libcnb reports the error, or the lack of bindings
	for _, entry := range entries {
		if err := checkFolder(filepath.Join(root(), entry.Name()), left); err != nil {
			return err
		}
	}
	return nil
}

// checkFolder reads the files of a folder, but not of the folders within.
func checkFolder(folder string, left *int64) error {
	entries, _ := os.ReadDir(folder) // as above
	for _, entry := range entries {
		file := filepath.Join(folder, entry.Name())
		info, err := os.Stat(file) // Kubernetes' files are symbolic links
		if err != nil || info.IsDir() {
			continue // libcnb reports the error, or skips the entry
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

// checkFile reads a file, and subtracts the size from the bytes left.
func checkFile(name string, left *int64) error {
	file, err := os.Open(name)
	if err != nil {
		return nil // libcnb reports the error
	}
	defer file.Close()
	n, err := io.Copy(io.Discard, io.LimitReader(file, *left+1))
	if *left -= n; *left < 0 {
		return fmt.Errorf("reading %q, of a service binding or a platform's variable: with it there are more than "+
			"%d MiB", name, maxSize>>20)
	}
	return err
}
