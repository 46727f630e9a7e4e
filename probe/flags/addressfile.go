package flags

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/grpc-cnb/health-probe/probe/check/address"
	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/check/rawfile"
)

// AddressFileName is the name of the file with the address that the build of the image has found in the app. It is in
// the same folder as the args file.
const AddressFileName = "grpc_health_probe.addr"

// maxAddressFile is the greatest size of an address file, in bytes: an address, a name and a path.
const maxAddressFile = 16 << 10

// FormatAddressFile returns the contents of an address file: an address as -addr takes it, or "" for none; the
// environment variable by which the app gets another one, or ""; and the place in the app's source where they are
// written, which -v prints. Each has a line of its own.
func FormatAddressFile(target, variable, place string) []byte {
	oneLine := strings.NewReplacer("\n", " ", "\x00", " ").Replace
	return []byte(oneLine(target) + "\n" + oneLine(variable) + "\n" + oneLine(place) + "\n")
}

// addressFile is what an address file says.
type addressFile struct{ target, variable, place string }

// parseAddressFile is the inverse of FormatAddressFile. Its error has nothing of the file, which may have become a link
// to a secret.
func parseAddressFile(file []byte) (addressFile, error) {
	lines := strings.Split(string(file), "\n")
	if len(lines) != 4 || lines[0] == "" && lines[1] == "" || lines[3] != "" {
		return addressFile{}, errors.New("it does not have the form that the build writes")
	}
	f := addressFile{lines[0], lines[1], lines[2]}
	if f.target != "" {
		if _, err := address.Parse(f.target, address.AnyPort); err != nil {
			return addressFile{}, errors.New("its first line is not an address")
		}
	}
	if strings.ContainsAny(f.variable, "=\x00 ") {
		return addressFile{}, errors.New("its second line is not the name of a variable")
	}
	return f, nil
}

// fromAddressFile applies the address that the build of the image has found. An image without the file has none, which
// is no error.
func (c *CommandLine) fromAddressFile() error {
	path := configPath(os.Executable, os.Args[0], AddressFileName) // if it is "", there is no such file
	file, err := rawfile.Read(path, maxAddressFile, nil)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	var found addressFile
	if err == nil {
		found, err = parseAddressFile(file)
	}
	if err != nil {
		return outcome.Misuse(fmt.Errorf("reading address file %q: %w", path, err), "set -addr, or rebuild the image")
	}
	return c.fromFound(found)
}

// fromFound applies an address that the build of the image has found: the value that its variable has in this
// container, or else what the source states.
func (c *CommandLine) fromFound(found addressFile) error {
	in := ""
	if found.place != "" {
		in = " in " + found.place
	}
	value := ""
	if found.variable != "" {
		value = os.Getenv(found.variable)
	}
	switch {
	case value != "":
		target, err := targetOf(value)
		if err != nil {
			return outcome.Misuse(fmt.Errorf("reading environment variable %s, which the app listens on: %w",
				found.variable, err), "set -addr")
		}
		c.values.Addr = target
		c.origin["addr"] = "environment variable " + found.variable + ", which the app reads" + in
	case found.target != "":
		c.values.Addr, c.origin["addr"] = found.target, "address that the build found"+in
	default:
		return outcome.Misuse(
			fmt.Errorf("no server address: environment variable %s, which the app reads%s, is not set",
				found.variable, in),
			outcome.Hint(fmt.Sprintf("set %s in the container, or -addr", found.variable)))
	}
	return nil
}

// targetOf returns the address to probe, if an app is told by a variable to listen on a port, an address, or a URL of
// this machine.
func targetOf(value string) (string, error) {
	listens := value
	for _, scheme := range []string{"http://", "https://"} {
		listens = strings.TrimPrefix(listens, scheme)
	}
	listens = strings.TrimRight(listens, "/")
	for _, wildcard := range []string{"*", "+", "0.0.0.0", "[::]"} {
		if port, ok := strings.CutPrefix(listens, wildcard+":"); ok {
			listens = ":" + port
		}
	}
	if !strings.Contains(listens, ":") {
		listens = "localhost:" + listens
	}
	if _, err := address.Parse(listens, address.AnyPort); err != nil {
		return "", fmt.Errorf("%q is neither a port nor an address", value)
	}
	return listens, nil
}
