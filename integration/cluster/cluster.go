// Package cluster runs a whole Kubernetes cluster of one node: etcd, API server, controller manager, scheduler,
// kubelet, kube-proxy, containerd, runc and a registry. All are the real programs, compiled from their modules
// (integration/cluster/tools). In go images and manifests; out come the words of kubectl and of the API server, the
// kubelet's metrics, and calls through Services.
//
// The cluster has namespaces (mount, PID, network, IPC, UTS) and cgroups of its own. Three processes make the cluster:
// the caller; the keeper, which outlives the caller to clean up after the cluster; and the cluster's init, at whose
// end the kernel ends every process of the cluster. Begin with Start. The caller's main function calls Main first,
// since keeper and init are the caller's own program.
//
// To try manifests by hand, run scripts/cluster.sh. To add a test, write a new file NAME_test.go: all tests share the
// cluster and run at the same time (t.Parallel), each in a namespace (newSpace). A test that measures or disturbs the
// node is not parallel: such tests run first, one by one. The sample app is appImage, push puts more images into the
// registry, and poll waits for Kubernetes' asynchronous work.
package cluster

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
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	// Address is the node's address on the pods' bridge: the first of the network. No other machine can reach the
	// address.
	Address = "10.88.0.1"
	// NodeName is the name of the only node.
	NodeName = "node"

	podNetwork     = "10.88.0.0/16"
	serviceNetwork = "10.96.0.0/16"
	bridge         = "node0"
)

// Cluster is a running cluster.
type Cluster struct {
	folder  string
	bin     string    // folder of the programs
	token   string    // of the administrator, for the API server
	alive   io.Closer // the keeper's standard input; its end ends the cluster
	ended   chan struct{}
	err     error // the reason of the end; set before ended is closed
	net     *os.File
	init    int // PID
	http    *http.Client
	forward net.Listener // the registry, for this machine
}

// Start starts a cluster with the programs in the folder bin (see Programs) and returns when the node is ready. Each
// program has a log file in the folder logs. The log files remain.
func Start(ctx context.Context, bin, logs string) (*Cluster, error) {
	folder, err := os.MkdirTemp("", "health-probe-cluster-")
	if err != nil {
		return nil, err
	}
	if logs, err = filepath.Abs(logs); err == nil {
		err = os.MkdirAll(logs, 0o755)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(folder))
	}
	var stderr bytes.Buffer
	keeper := exec.Command("/proc/self/exe", keeperRole, folder, logs, bin)
	keeper.Stderr = &stderr
	keeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // interrupts of the caller do not end the keeper
	stdin, err := keeper.StdinPipe()
	if err != nil {
		return nil, errors.Join(err, os.Remove(folder))
	}
	stdout, err := keeper.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, os.Remove(folder))
	}
	if err := keeper.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting the cluster's keeper: %w", err), os.Remove(folder))
	}
	c := &Cluster{folder: folder, bin: bin, alive: stdin, ended: make(chan struct{})}
	pid, _ := bufio.NewReader(stdout).ReadString('\n')
	go func() {
		defer close(c.ended)
		if err := keeper.Wait(); err != nil {
			c.err = fmt.Errorf("running the cluster: %w\n%s", err, stderr.String())
		}
	}()
	if c.init, err = strconv.Atoi(strings.TrimSpace(pid)); err == nil {
		err = c.enter(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting a cluster, whose logs are in %q: %w", logs, err), c.Close())
	}
	return c, nil
}

// enter connects the caller to the cluster.
func (c *Cluster) enter(ctx context.Context) (err error) {
	if c.net, err = os.Open(fmt.Sprintf("/proc/%d/ns/net", c.init)); err != nil {
		return fmt.Errorf("opening the cluster's network namespace: %w", err)
	}
	if err := c.connect(ctx, c.Dial); err != nil {
		return err
	}
	if err := c.forwardRegistry(); err != nil {
		return err
	}
	return c.ready(ctx)
}

// ready returns when the node can run a pod and serve a Service.
func (c *Cluster) ready(ctx context.Context) error {
	for _, is := range []struct {
		what string
		ask  func(context.Context) error
	}{
		{"the registry", func(ctx context.Context) error {
			_, err := c.HTTP(ctx, "http://"+Registry+"/v2/")
			return err
		}},
		{"kube-proxy", func(ctx context.Context) error {
			_, err := c.HTTP(ctx, "http://127.0.0.1:10256/healthz")
			return err
		}},
		{"the node", c.nodeReady},
	} {
		if err := c.wait(ctx, is.what, is.ask); err != nil {
			return err
		}
	}
	return nil
}

// wait repeats ask until success, at most for two minutes.
func (c *Cluster) wait(ctx context.Context, what string, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-c.ended:
			return errors.New("the cluster ended")
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, err)
		}
	}
}

// Ended returns a channel that is closed at the end of the cluster; Err then returns the reason.
func (c *Cluster) Ended() <-chan struct{} { return c.ended }

// Err returns why the cluster ended by itself.
func (c *Cluster) Err() error { return c.err }

// Folder returns the folder of the running cluster's files.
func (c *Cluster) Folder() string { return c.folder }

// Init returns the PID of the cluster's init, whose namespaces nsenter(1) can enter.
func (c *Cluster) Init() int { return c.init }

// Close ends the cluster and returns when nothing is left.
func (c *Cluster) Close() error {
	if c.forward != nil {
		c.forward.Close()
	}
	if c.http != nil {
		c.http.CloseIdleConnections()
	}
	c.alive.Close() // fails if the keeper has ended before
	<-c.ended
	if c.net != nil {
		c.net.Close()
	}
	return c.err
}
