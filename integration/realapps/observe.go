package main

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// listener is an address on which the app answers gRPC.
type listener struct {
	Address  string // as the probe takes it
	Loopback bool   // whether no other pod or node reaches it
	Security string // plaintext, tls or mtls
	Health   bool   // whether the health service answers for the whole server
}

// listeners asks each address on which a process of the namespaces listens.
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

// ask returns how the calls to a gRPC server are carried, "" if none answers there.
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

// isGRPC reports whether an error of a call is the answer of a gRPC server, and not that of a web server.
func isGRPC(text string) bool { return !strings.Contains(text, "HTTP status") }

// addresses returns the TCP ports and Unix sockets on which the processes of the namespaces listen (proc_net(5)).
func addresses() ([]listener, error) {
	var all []listener
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		rows, err := table(file)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			const local, state, listens = 1, 3, "0A"
			host, number, _ := strings.Cut(row[local], ":")
			port, err := strconv.ParseUint(number, 16, 16)
			if row[state] != listens || err != nil {
				continue
			}
			all = merge(all, listener{Address: fmt.Sprintf("localhost:%d", port), Loopback: isLoopback(host)})
		}
	}
	rows, err := table("/proc/net/unix")
	for _, row := range rows {
		const flags, path, listens = 3, 7, "00010000"
		if len(row) > path && row[flags] == listens {
			all = merge(all, listener{Address: socket(row[path]), Loopback: true})
		}
	}
	return all, err
}

// merge adds an address, which may be there already for the other version of the Internet Protocol.
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
	return "unix:" + filepath.Clean(path) // //tmp/app.sock is what the probe takes as /tmp/app.sock
}

// isLoopback reports whether an address as the kernel prints it, in words of the machine's byte order, is one of
// loopback.
func isLoopback(host string) bool {
	address, err := hex.DecodeString(host)
	const v4 = 4
	switch {
	case err != nil:
		return false
	case len(address) == v4:
		return address[3] == 127
	}
	return slices.Equal(address, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}) ||
		slices.Equal(address, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0}) ||
		bytes.HasPrefix(address, []byte{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0}) && address[15] == 127
}

// table returns the fields of the rows of a file of the kernel, without its head.
func table(file string) ([][]string, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading where the app listens: %w", err)
	}
	var rows [][]string
	for line := range strings.Lines(string(data)) {
		rows = append(rows, strings.Fields(line))
	}
	return rows[min(1, len(rows)):], nil
}
