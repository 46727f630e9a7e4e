package probe

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/check/rawfile"
)

// PortFileName is the name of the file with the port that the build of the image has found in the app. It is in the
// same folder as the args file.
const PortFileName = "grpc_health_probe.port"

// maxPortFile is the greatest size of a port file, in bytes: a number and a path.
const maxPortFile = 8 << 10

// FormatPortFile returns the contents of a port file: the port, and the place in the app's source where it is written,
// which -v prints.
func FormatPortFile(port int, place string) []byte {
	return []byte(strconv.Itoa(port) + " " + strings.ReplaceAll(place, "\n", " ") + "\n")
}

// parsePortFile is the inverse of FormatPortFile.
func parsePortFile(file []byte) (port, place string, err error) {
	port, place, _ = strings.Cut(strings.TrimSuffix(string(file), "\n"), " ")
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return "", "", fmt.Errorf("%q is no port", port)
	}
	return port, place, nil
}

// fromPortFile applies the port that the build of the image has found, on this machine. It is the lowest source of all.
// An image without the file has no such port, which is no error.
func (c *CommandLine) fromPortFile() error {
	path := configPath(os.Executable, os.Args[0], PortFileName)
	if path == "" {
		return nil
	}
	file, err := rawfile.Read(path, maxPortFile, nil)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	var port, place string
	if err == nil {
		port, place, err = parsePortFile(file)
	}
	if err != nil {
		return outcome.Misuse(fmt.Errorf("reading port file %q: %w", path, err), "set -addr, or rebuild the image")
	}
	c.values.Addr = "localhost:" + port
	c.origin["addr"] = "port that the build found"
	if place != "" {
		c.origin["addr"] += " in " + place
	}
	return nil
}
