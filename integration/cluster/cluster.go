// Package cluster runs a whole Kubernetes cluster of one node: etcd, API server, controller manager, scheduler,
// kubelet, kube-proxy, containerd, runc and a registry. All of them are the real programs, compiled from their modules
// (integration/cluster/tools). In go images and manifests; out come the words of kubectl and of the API server, the
// kubelet's metrics, and calls through Services.
//
// The cluster has namespaces (mount, PID, network, IPC, UTS) and cgroups of its own. Three processes make it: the
// caller; the keeper, which outlives the caller for as long as it takes to remove what the cluster made; and the
// cluster's init, with whose end the kernel ends every process of the cluster. Begin with Start. The caller's main
// function calls Main first, since keeper and init are the caller's own program.
//
// To try manifests by hand, run scripts/cluster.sh. To add a test, write a file NAME_test.go beside the others: all
// tests share one cluster, and each has a namespace of it (newSpace), so that they run at the same time (t.Parallel). A
// test that measures or disturbs the node is not parallel: such tests run before all others, one after the other. The
// sample app is there as appImage, push puts more images into the registry, and what Kubernetes does in its own time is
// waited for with poll.
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
	// Address is the node's, on the bridge that its pods are on: the first of the network, which no other machine can
	// reach.
	Address = "10.88.0.1"
	// NodeName is the name of the only node.
	NodeName = "node"

	podNetwork     = "10.88.0.0/16"
	serviceNetwork = "10.96.0.0/16"
	bridge         = "node0"
)

// Cluster is a cluster that runs.
type Cluster struct {
	folder  string
	bin     string    // a folder with the programs
	token   string    // of the administrator, for the API server
	alive   io.Closer // the keeper's standard input, at whose end it ends the cluster
	ended   chan struct{}
	err     error // why the cluster ended, once it has
	net     *os.File
	init    int // PID
	http    *http.Client
	forward net.Listener // the registry, for this machine
}

// Start starts a cluster with the programs in a folder (Programs) and returns when its node is ready. Each program has
// a log file in the folder logs, which stays there.
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

// ready returns when a pod can be run and a Service be reached.
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

// wait asks until there is no error.
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

// Ended is closed when the cluster has ended; Err then says why.
func (c *Cluster) Ended() <-chan struct{} { return c.ended }

// Err is why the cluster ended by itself.
func (c *Cluster) Err() error { return c.err }

// Folder is where the cluster has its files while it runs.
func (c *Cluster) Folder() string { return c.folder }

// Init is the PID of the cluster's init, whose namespaces nsenter(1) can enter.
func (c *Cluster) Init() int { return c.init }

// Close ends the cluster and returns when nothing is left of it.
func (c *Cluster) Close() error {
	if c.forward != nil {
		c.forward.Close()
	}
	if c.http != nil {
		c.http.CloseIdleConnections()
	}
	c.alive.Close() // It fails if the keeper has ended before.
	<-c.ended
	if c.net != nil {
		c.net.Close()
	}
	return c.err
}
