package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/prometheus/procfs"
)

// listener is an address on which the app answers gRPC.
type listener struct {
	Address  string // in the probe's format
	Loopback bool   // whether no other pod or node reaches the address
	Security string // plaintext, tls or mtls
	Health   bool   // whether the health service answers for the whole server
}

// listeners returns the listening addresses of the namespaces' processes that answer gRPC.
func (j job) listeners(ctx context.Context) ([]listener, error) {
	all, err := addresses()
	if err != nil {
		return nil, err
	}
	var serving []listener
	for _, l := range all {
		if l.Security, l.Health = j.ask(ctx, l.Address); l.Security != "" {
			serving = append(serving, l)
		}
	}
	return serving, nil
}

// ask returns the transport security of a gRPC server's calls, "" without a gRPC server at the address.
func (j job) ask(ctx context.Context, address string) (security string, health bool) {
	for _, with := range []struct {
		security string
		flags    []string
	}{{"plaintext", nil}, {"tls", []string{"-tls", "-tls-no-verify"}}} {
		var answer struct {
			Code        int `json:"exit_code"`
			Error, Hint string
		}
		probe := exec.CommandContext(ctx, layers+"/probe/bin/grpc_health_probe",
			append(with.flags, "-o=json", "-addr="+address)...)
		out, err := probe.Output()
		if json.Unmarshal(out, &answer) != nil && err != nil {
			continue
		}
		switch {
		case answer.Code == 0 || answer.Code == 4:
			return with.security, true
		case answer.Code == exitRPC && isGRPC(answer.Error):
			return with.security, false
		case with.security == "tls" && strings.Contains(answer.Hint, "may want a client certificate"):
			return "mtls", false
		}
	}
	return "", false
}

// isGRPC reports whether the error of a call comes from a gRPC server, not from a web server.
func isGRPC(text string) bool { return !strings.Contains(text, "HTTP status") }

// addresses returns the TCP ports and Unix sockets on which the processes of the namespaces listen (proc_net(5)).
func addresses() ([]listener, error) {
	kernel, err := procfs.NewFS("/proc")
	if err != nil {
		return nil, fmt.Errorf("reading where the app listens: %w", err)
	}
	var all []listener
	for _, sockets := range []func() (procfs.NetTCP, error){kernel.NetTCP, kernel.NetTCP6} {
		rows, err := sockets()
		if err != nil && !errors.Is(err, os.ErrNotExist) { // a kernel without IPv6 has no such file
			return nil, fmt.Errorf("reading where the app listens: %w", err)
		}
		for _, row := range rows {
			const listens = 10 // TCP_LISTEN
			if row.St == listens {
				address := fmt.Sprintf("localhost:%d", row.LocalPort)
				all = merge(all, listener{Address: address, Loopback: row.LocalAddr.IsLoopback()})
			}
		}
	}
	sockets, err := kernel.NetUNIX()
	if err != nil {
		return nil, fmt.Errorf("reading where the app listens: %w", err)
	}
	for _, row := range sockets.Rows {
		const listens = 1 << 16 // __SO_ACCEPTCON
		if row.Path != "" && row.Flags == listens {
			all = merge(all, listener{Address: socket(row.Path), Loopback: true})
		}
	}
	return all, nil
}

// merge adds an address, unless all has the address from the other version of the Internet Protocol.
func merge(all []listener, l listener) []listener {
	for i := range all {
		if all[i].Address == l.Address {
			all[i].Loopback = all[i].Loopback && l.Loopback
			return all
		}
	}
	return append(all, l)
}

func socket(path string) string {
	if name, ok := strings.CutPrefix(path, "@"); ok {
		return "unix-abstract:" + name
	}
	return "unix:" + filepath.Clean(path) // the probe takes //tmp/app.sock as /tmp/app.sock
}
