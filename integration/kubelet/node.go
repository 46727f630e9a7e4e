// Package kubelet runs a Kubernetes node without a cluster: the real kubelet, with containerd and runc. In go static pods
// and the images of their containers; out come the kubelet's own words, the status of the pods and its metrics.
//
// A node has namespaces (mount, PID, network, IPC, UTS) and a cgroup of its own. Three processes make it: the caller; the
// keeper, which outlives the caller for as long as it takes to remove what the node made; and the node's init, with
// whose end the kernel ends every process of the node. Begin with Start. The caller's main function calls Main first,
// since keeper and init are the caller's own program.
package kubelet

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"golang.org/x/sys/unix"
)

// Address is the node's, on the bridge that its pods are on: the first of the network, which no other machine can reach.
const (
	Address = "10.88.0.1"
	network = "10.88.0.0/16"
)

// PauseImage is the image of each pod's first container: import it before the first pod.
const PauseImage = "pause.invalid/pause:1.0.0"

// Node is a node that runs.
type Node struct {
	folder string
	alive  io.Closer // the keeper's standard input, at whose end it ends the node
	ended  chan struct{}
	err    error // why the node ended, once it has
	net    *os.File
	http   *http.Client
}

// Start starts a node with a kubelet (the program) and returns when that answers. The logs, kubelet.log and containerd.log,
// go into a folder, and stay there.
func Start(ctx context.Context, kubelet, logs string) (*Node, error) {
	folder, err := os.MkdirTemp("", "health-probe-node-")
	if err != nil {
		return nil, err
	}
	var stderr bytes.Buffer
	keeper := exec.Command("/proc/self/exe", keeperRole, folder, logs, kubelet)
	keeper.Stderr = &stderr
	keeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // what interrupts the caller does not end the keeper
	stdin, err := keeper.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := keeper.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := keeper.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the node's keeper: %w", err), os.Remove(folder))
	}
	n := &Node{folder: folder, alive: stdin, ended: make(chan struct{})}
	n.http = &http.Client{Transport: &http.Transport{DialContext: n.dial}, Timeout: 10 * time.Second}
	pid, _ := bufio.NewReader(stdout).ReadString('\n')
	go func() {
		defer close(n.ended)
		if err := keeper.Wait(); err != nil {
			n.err = fmt.Errorf("running the node: %w\n%s", err, stderr.String())
		}
	}()
	if n.net, err = os.Open(filepath.Join("/proc", strings.TrimSpace(pid), "ns/net")); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the node's network namespace: %w", err), n.Close())
	}
	if err := n.answers(ctx); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

// answers returns when the kubelet says that it is healthy.
func (n *Node) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		_, err := n.get(ctx, "/healthz")
		if err == nil {
			return nil
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-n.ended:
			return errors.New("starting the node: it ended")
		case <-ctx.Done():
			return fmt.Errorf("waiting for the kubelet: %w", err)
		}
	}
}

// Close ends the node and returns when nothing is left of it.
func (n *Node) Close() error {
	n.http.CloseIdleConnections()
	if n.net != nil {
		n.net.Close()
	}
	n.alive.Close() // It fails where the keeper has ended before.
	<-n.ended
	return n.err
}

// Import puts an image into the node.
func (n *Node) Import(ctx context.Context, ref string, image v1.Image) error {
	tag, err := name.NewTag(ref)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(n.folder, "image-")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	if err := errors.Join(tarball.Write(tag, image, file), file.Close()); err != nil {
		return fmt.Errorf("writing image %q: %w", ref, err)
	}
	ctr := exec.CommandContext(ctx, "ctr", "--address", socket(n.folder), "--namespace", "k8s.io", "images", "import", file.Name())
	if out, err := ctr.CombinedOutput(); err != nil {
		return fmt.Errorf("importing image %q: %w\n%s", ref, err, out)
	}
	return nil
}

// CPU is the CPU time that the node has used: kubelet, containerd and runc alone, and together with all containers.
func (n *Node) CPU() (system, whole time.Duration, err error) {
	g, err := findGroups(filepath.Base(n.folder))
	if err != nil {
		return 0, 0, err
	}
	system, err = g.cpu(own)
	if err == nil {
		whole, err = g.cpu("")
	}
	return system, whole, err
}

// get asks the kubelet's read-only port, which is open to the node alone.
func (n *Node) get(ctx context.Context, path string) ([]byte, error) {
	return n.Get(ctx, fmt.Sprintf("http://127.0.0.1:%d%s", readOnlyPort, path))
}

// Get asks an HTTP server on the node, such as a pod.
func (n *Node) Get(ctx context.Context, url string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := n.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("asking for %q: status %s: %s", url, response.Status, body)
	}
	return body, err
}

// dial connects to an IP address from within the node's network.
func (n *Node) dial(ctx context.Context, network, address string) (conn net.Conn, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		// The thread is not let go of: it ends with the goroutine, and no other one finds itself in the node's network.
		runtime.LockOSThread()
		if err = unix.Setns(int(n.net.Fd()), unix.CLONE_NEWNET); err != nil {
			err = fmt.Errorf("entering the node's network: %w", err)
			return
		}
		conn, err = new(net.Dialer).DialContext(ctx, network, address)
	}()
	<-done
	return conn, err
}
