// Command linked does nothing, like the empty program, but is able to speak TLS: what it costs more is what linking
// crypto/tls costs a program that does not use it, before a probe begins.
package main

import (
	"crypto/tls"
	"net"
	"os"
)

func main() {
	if len(os.Args) > 1000 { // never, which the linker cannot know
		var conn net.Conn
		_ = tls.Client(conn, nil).Handshake()
	}
}
