package harness

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"golang.org/x/crypto/bcrypt"
)

// distributionYAML configures the registry (distribution's documentation, Configuration), with the storage to fill in.
// The kernel chooses the port.
const distributionYAML = `version: 0.1
log: {level: info, formatter: text}
storage:
  filesystem: {rootdirectory: %q}
  delete: {enabled: true}
http: {addr: "127.0.0.1:0"}
`

// distributionLogin lets in only the users that a file names.
const distributionLogin = `auth:
  htpasswd: {realm: test, path: %q}
`

// listeningOn matches the registry's log of the address, printed before the registry accepts connections.
var listeningOn = regexp.MustCompile(`listening on (127\.0\.0\.1:\d+)`)

// Distribution starts the distribution project's registry, the program behind many public registries, as a process on
// loopback, empty. With a login, nobody else gets in. The first use compiles the program. Close the registry before the
// Fixture; the end of this process ends the registry too.
func (k *Fixture) Distribution(ctx context.Context, login Login) (*Registry, error) {
	program, err := k.Tool(ctx, "registry")
	if err != nil {
		return nil, err
	}
	config, err := k.distributionConfig(login)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(program, "serve", config)
	cmd.Env = append(os.Environ(), "OTEL_TRACES_EXPORTER=none") // the default sends traces to a collector
	log, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting the registry: %w", err)
	}
	sweeper, err := newSweeper(nil, `kill "$1"`, strconv.Itoa(cmd.Process.Pid))
	if err != nil {
		return nil, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	end := func() error {
		err := sweeper.close()
		_ = cmd.Wait() // fails because the process was ended
		return err
	}
	address, err := waitForAddress(log)
	if err != nil {
		return nil, errors.Join(err, end())
	}
	go func() { _, _ = io.Copy(io.Discard, log) }() // until the process ends: the registry would wait for a reader
	return &Registry{address: address, login: login, close: end}, nil
}

// distributionConfig writes the registry's configuration and returns the path.
func (k *Fixture) distributionConfig(login Login) (string, error) {
	folder, err := k.tempFolder("registry")
	if err != nil {
		return "", err
	}
	config := fmt.Sprintf(distributionYAML, filepath.Join(folder, "storage"))
	if login != (Login{}) {
		hash, err := bcrypt.GenerateFromPassword([]byte(login.Password), bcrypt.MinCost)
		if err != nil {
			return "", fmt.Errorf("making the registry's password file: %w", err)
		}
		users := filepath.Join(folder, "htpasswd")
		if err := os.WriteFile(users, fmt.Appendf(nil, "%s:%s\n", login.User, hash), 0o600); err != nil {
			return "", err
		}
		config += fmt.Sprintf(distributionLogin, users)
	}
	path := filepath.Join(folder, "config.yml")
	return path, os.WriteFile(path, []byte(config), 0o600)
}

// waitForAddress reads the registry's log up to the address.
func waitForAddress(log io.Reader) (string, error) {
	var read bytes.Buffer
	lines := bufio.NewScanner(io.TeeReader(log, &read))
	for lines.Scan() {
		if match := listeningOn.FindSubmatch(lines.Bytes()); match != nil {
			return string(match[1]), nil
		}
	}
	return "", fmt.Errorf("waiting for the registry to listen: it ended\n%s", read.String())
}
