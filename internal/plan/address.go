package plan

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// Address is where a server listens. The zero value is an address of which nothing is known.
type Address struct {
	Host Host
	// Port is a TCP port, or 0.
	Port int
	// Socket is a Unix domain socket as -addr of the probe takes it, such as "unix:/run/app.sock" or
	// "unix-abstract:app"; "" for a socket whose name is not known, and for all other hosts.
	Socket string
	// Variable is the environment variable that replaces what is written, by a port or an address; "" for none. An
	// address with a variable and nothing else is known when the app runs.
	Variable string
	// Place is where the address, or the name of the variable, is written. A file states the line, and the path is
	// added for it.
	Place Place
	// Certainty says whether to believe it.
	Certainty Certainty
}

// Host says on which of its addresses a machine listens.
type Host int

// The hosts.
const (
	UnknownHost   Host = iota
	AllInterfaces      // 0.0.0.0, [::], *
	Loopback           // localhost, 127.0.0.1, [::1]
	OneInterface       // an address of its own, or a name: a probe in the container may not reach it by localhost
	UnixSocket         // a Unix domain socket, which has no port
)

// Certainty is how sure an address is.
type Certainty int

// The certainties.
const (
	Unknown Certainty = iota
	Default           // an environment variable, a flag, an option or a setting may replace it
	Written           // it is written there
)

// MaxPort is the highest TCP port.
const MaxPort = 65535

// Local returns the port by which a probe beside the server reaches it, or 0.
func (a Address) Local() int {
	if a.Certainty == Unknown || a.Host == OneInterface || a.Host == UnixSocket {
		return 0
	}
	return a.Port
}

// Target returns the address as -addr of a probe in the container takes it, or "" if it is not known before the app
// runs: localhost:8080, unix:/run/app.sock. Variable may still replace it.
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

// String describes the address in a few words; "" if nothing is known.
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

// variableName reports whether a text can be the name of an environment variable that a shell and Kubernetes take
// (POSIX, Environment Variables).
func variableName(text string) bool {
	if text == "" || len(text) > maxVariable || text[0] >= '0' && text[0] <= '9' {
		return false
	}
	return strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// maxVariable is the longest name of a variable, in bytes, that the sources are believed to have.
const maxVariable = 128
