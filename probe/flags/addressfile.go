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

// AddressFileName is the name of the file with the address that the build of the image has found in the app. The file
// is in the folder of the args file.
const AddressFileName = "grpc_health_probe.addr"

// maxAddressFile is the greatest size of an address file, in bytes: an address, a name and a path.
const maxAddressFile = 16 << 10

// FoundAddress is the finding of an image's build about the address of the app's server.
type FoundAddress struct {
	// Target is an address in the form of -addr, or "" for none.
	Target string
	// Variable is the environment variable for another address of the app, or "".
	Variable string
	// Place is the position of both in the app's source, printed by -v.
	Place string
	// TLS means signs of TLS. Alone means that the app has no second server and that the server speaks before the
	// client.
	TLS, Alone bool
}

// FormatAddressFile returns the contents of an address file, with one part on each line.
func FormatAddressFile(f FoundAddress) []byte {
	oneLine := strings.NewReplacer("\n", " ", "\x00", " ").Replace
	lines := []string{oneLine(f.Target), oneLine(f.Variable), oneLine(f.Place)}
	if f.TLS {
		lines = append(lines, withTLS)
	}
	if f.Alone {
		lines = append(lines, alone)
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

// Optional lines after the first three of an address file.
const (
	withTLS = "tls"
	alone   = "alone"
)

// parseAddressFile is the inverse of FormatAddressFile. The error quotes nothing of the file, which may have become a
// link to a secret.
func parseAddressFile(file []byte) (FoundAddress, error) {
	text, isWhole := strings.CutSuffix(string(file), "\n")
	lines := strings.Split(text, "\n")
	malformed := errors.New("it does not have the form that the build writes")
	if !isWhole || len(lines) < 3 {
		return FoundAddress{}, malformed
	}
	f := FoundAddress{Target: lines[0], Variable: lines[1], Place: lines[2]}
	for _, line := range lines[3:] {
		switch {
		case line == withTLS && !f.TLS && !f.Alone:
			f.TLS = true
		case line == alone && !f.Alone:
			f.Alone = true
		default:
			return FoundAddress{}, malformed
		}
	}
	if f == (FoundAddress{Place: f.Place}) {
		return FoundAddress{}, malformed
	}
	if f.Target != "" {
		if _, err := address.Parse(f.Target, address.AnyPort); err != nil {
			return FoundAddress{}, errors.New("its first line is not an address")
		}
	}
	if strings.ContainsAny(f.Variable, "=\x00 ") {
		return FoundAddress{}, errors.New("its second line is not the name of a variable")
	}
	return f, nil
}

// fromAddressFile applies the address that the build of the image has found. An image without the file is no error.
func (c *CommandLine) fromAddressFile() error {
	path := configPath(os.Executable, os.Args[0], AddressFileName) // if path is "", no file exists
	file, err := rawfile.Read(path, maxAddressFile, nil)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	var found FoundAddress
	if err == nil {
		found, err = parseAddressFile(file)
	}
	if err != nil {
		return outcome.Misuse(fmt.Errorf("reading address file %q: %w", path, err), "set -addr, or rebuild the image")
	}
	return c.fromFound(found)
}

// fromFound applies an address that the build of the image has found: the value of the variable in this container, or
// else the address in the source.
func (c *CommandLine) fromFound(found FoundAddress) error {
	c.values.Search.TLS, c.values.Search.Alone = found.TLS, found.Alone
	in := ""
	if found.Place != "" {
		in = " in " + found.Place
	}
	value := ""
	if found.Variable != "" {
		value = os.Getenv(found.Variable)
	}
	switch {
	case value != "":
		target, err := targetOf(value)
		if err != nil {
			return outcome.Misuse(fmt.Errorf("reading environment variable %s, which the app listens on: %w",
				found.Variable, err), "set -addr")
		}
		c.values.Addr, c.values.Search.Found = target, true
		c.origin["addr"] = "environment variable " + found.Variable + ", which the app reads" + in
	case found.Target != "":
		c.values.Addr, c.values.Search.Found = found.Target, true
		c.origin["addr"] = "address that the build found" + in
	case found.Variable != "" && !c.values.Search.Enabled:
		return outcome.Misuse(
			fmt.Errorf("no server address: environment variable %s, which the app reads%s, is not set",
				found.Variable, in),
			outcome.Hint(fmt.Sprintf("set %s in the container, or -addr", found.Variable)))
	}
	return nil
}

// targetOf returns the address to probe for the value of an app's variable: a port, an address, or a URL of this
// machine.
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
