package plan

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Address is where a server listens. The zero value is an unknown address.
type Address struct {
	Host Host
	// Port is a TCP port, or 0.
	Port int
	// Socket is a Unix domain socket in the syntax of the probe's -addr, such as "unix:/run/app.sock" or
	// "unix-abstract:app"; "" for a socket of unknown name, and for all other hosts.
	Socket string
	// Variable is the environment variable that replaces the written address by a port or an address; "" for none. An
	// address with nothing but a variable is known when the app runs.
	Variable string
	// Place is the position of the address, or of the variable's name. A file states the line, and the path is added
	// later.
	Place Place
	// Certainty says whether to believe the address.
	Certainty Certainty
}

// Host says on which addresses of a machine a server listens.
type Host int

// The hosts.
const (
	UnknownHost   Host = iota
	AllInterfaces      // 0.0.0.0, [::], *
	Loopback           // localhost, 127.0.0.1, [::1]
	OneInterface       // a single address, or a name: a probe in the container may not reach the server by localhost
	UnixSocket         // a Unix domain socket, which has no port
)

// Certainty is the certainty of an address.
type Certainty int

// The certainties.
const (
	Unknown Certainty = iota
	Default           // an environment variable, a flag, an option or a setting may replace it
	Written           // the source states the address
)

// MaxPort is the highest TCP port.
const MaxPort = 65535

// Local returns the port by which a probe beside the server reaches the server, or 0.
func (a Address) Local() int {
	if a.Certainty == Unknown || a.Host == OneInterface || a.Host == UnixSocket {
		return 0
	}
	return a.Port
}

// Target returns the address for -addr of a probe in the container, as in localhost:8080 or unix:/run/app.sock. It is
// "" for an address unknown before the app runs. Variable may still replace the address.
func (a Address) Target() string {
	if a.Host == UnixSocket && a.Certainty != Unknown {
		return a.Socket
	}
	if port := a.Local(); port != 0 {
		return "localhost:" + strconv.Itoa(port)
	}
	return ""
}

// IsKnown reports whether a probe can find the server when the app runs.
func (a Address) IsKnown() bool { return a.Target() != "" || a.Variable != "" }

// String describes the address in a few words; "" for an unknown address.
func (a Address) String() string {
	var known string
	switch {
	case a.Host == UnixSocket:
		known = cmp.Or(Printable(a.Socket), "a Unix domain socket")
	case a.Local() != 0:
		known = fmt.Sprintf("port %d", a.Local())
	}
	if a.Host == Loopback && known != "" {
		known += " on loopback"
	}
	switch {
	case known == "" && a.Variable == "":
		return ""
	case known == "" && strings.Contains(strings.ToUpper(a.Variable), "PORT"):
		known = "port $" + a.Variable
	case known == "":
		known = "address $" + a.Variable
	case a.Variable != "":
		known += " unless $" + a.Variable + " is set"
	case a.Certainty == Default:
		known += " by default"
	}
	return known
}

// variableName reports whether a shell and Kubernetes take a text as the name of an environment variable (POSIX,
// Environment Variables).
func variableName(text string) bool {
	if text == "" || len(text) > maxVariable || text[0] >= '0' && text[0] <= '9' {
		return false
	}
	return strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// maxVariable bounds the name of a variable in sources, in bytes.
const maxVariable = 128
