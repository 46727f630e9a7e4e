// Package pod asks the probe in a running container for the findings, as kubectl exec does: the names of a pod and
// of a container go in, and the probes come out. Begin with [Pod.Discover].
package pod

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/streaming/pkg/httpstream"

	"github.com/grpc-cnb/health-probe/cmd/kubectl-grpc_probes/label"
)

// program is the probe's path in each image of the buildpack.
const program = "/layers/grpc-cnb_health-probe/probe/bin/grpc_health_probe"

// maxOutput bounds the output of a program in a pod or of the API, in bytes.
const maxOutput = 4 << 20

// Pod is a pod of a cluster.
type Pod struct {
	Namespace, Name string

	config  *rest.Config
	base    *url.URL
	client  *http.Client
	timeout time.Duration
}

// Report is the probe's findings in a container.
type Report struct {
	Sockets []Socket `json:"sockets"`
	Note    string   `json:"note"`
	// Text is the printed report of the probe.
	Text []byte `json:"-"`
}

// Socket is a container's listening socket.
type Socket struct {
	Address   string       `json:"address"`
	GRPC      bool         `json:"grpc"`
	Error     string       `json:"error"`
	Readiness *label.Probe `json:"readinessProbe"`
	Liveness  *label.Probe `json:"livenessProbe"`
}

// Connect returns a pod of the cluster in the user's settings of kubectl, unless others are given. The timeout bounds
// each question to the pod.
func Connect(kubeconfig, clusterContext, namespace, name string, timeout time.Duration) (*Pod, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: clusterContext}
	overrides.Context.Namespace = namespace
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the settings of kubectl: %w", err)
	}
	config.Timeout = timeout
	p := &Pod{Name: name, config: config, timeout: timeout}
	if p.Namespace, _, err = loader.Namespace(); err != nil {
		return nil, fmt.Errorf("reading the settings of kubectl: %w", err)
	}
	if p.base, _, err = rest.DefaultServerUrlFor(config); err == nil {
		p.client, err = rest.HTTPClientFor(config)
	}
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return p, nil
}

// url returns the address of the pod, or of a part of it, in the API.
func (p *Pod) url(part string, query url.Values) *url.URL {
	u := p.base.JoinPath("api/v1/namespaces", url.PathEscape(p.Namespace), "pods", url.PathEscape(p.Name), part)
	u.RawQuery = query.Encode()
	return u
}

// Containers returns the names of the pod's containers.
func (p *Pod) Containers(ctx context.Context) ([]string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url("", nil).String(), nil)
	if err != nil {
		return nil, fmt.Errorf("reading the pod %q: %w", p.Name, err)
	}
	request.Header.Set("Accept", "application/json")
	response, err := p.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("reading the pod %q: %w", p.Name, err)
	}
	defer func() { _ = response.Body.Close() }() // after the read
	text, err := io.ReadAll(io.LimitReader(response.Body, maxOutput))
	if err != nil {
		return nil, fmt.Errorf("reading the pod %q: %w", p.Name, err)
	}
	if response.StatusCode != http.StatusOK {
		var status struct{ Message string }
		_ = json.Unmarshal(text, &status) // the code says enough without a message
		return nil, fmt.Errorf("reading the pod %q in the namespace %q: %s %s (set -n, or look with kubectl get pods)",
			p.Name, p.Namespace, response.Status, status.Message)
	}
	var pod corev1.Pod
	if err := json.Unmarshal(text, &pod); err != nil {
		return nil, fmt.Errorf("reading the pod %q: %w", p.Name, err)
	}
	var names []string
	for _, c := range pod.Spec.Containers {
		names = append(names, c.Name)
	}
	return names, nil
}

// Discover has the probe in a container look for servers.
func (p *Pod) Discover(ctx context.Context, container string) (*Report, error) {
	u := p.url("exec", url.Values{
		"container": {container}, "command": {program, "-discover", "-o=json"}, "stdout": {"true"}, "stderr": {"true"},
	})
	executor, err := p.executor(u)
	if err != nil {
		return nil, fmt.Errorf("executing the probe in %q: %w", container, err)
	}
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	var out, failed limited
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &out, Stderr: &failed})
	if err != nil {
		return nil, p.explain(container, strings.TrimSpace(failed.String()), err)
	}
	report := &Report{Text: out.Bytes()}
	if err := json.Unmarshal(out.Bytes(), report); err != nil {
		return nil, fmt.Errorf("reading what the probe in %q found: %w (an older probe has no -discover: build the "+
			"image anew)", container, err)
	}
	return report, nil
}

func (p *Pod) executor(u *url.URL) (remotecommand.Executor, error) {
	sockets, err := remotecommand.NewWebSocketExecutor(p.config, http.MethodGet, u.String())
	if err != nil {
		return nil, err
	}
	streams, err := remotecommand.NewSPDYExecutor(p.config, http.MethodPost, u)
	if err != nil {
		return nil, err
	}
	return remotecommand.NewFallbackExecutor(sockets, streams, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
}

// explain gives advice about a probe that could not be executed.
func (p *Pod) explain(container, said string, err error) error {
	if said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	text := err.Error()
	if strings.Contains(text, "no such file") || strings.Contains(text, "exit code 127") {
		return fmt.Errorf("executing the probe in %q: %w (its image has no probe: run one in a debug container, "+
			"kubectl debug %s -n %s --image=ghcr.io/grpc-cnb/grpc-health-probe --target=%s --profile=general -it -- "+
			"/bin/grpc_health_probe -discover)", container, err, p.Name, p.Namespace, container)
	}
	return fmt.Errorf("executing the probe in %q: %w (the pod has to run, and you may need the right to create "+
		"pods/exec)", container, err)
}

// limited keeps the written bytes, and refuses more than maxOutput.
type limited struct{ bytes.Buffer }

func (l *limited) Write(text []byte) (int, error) {
	if l.Len()+len(text) > maxOutput {
		return 0, errors.New("the probe prints too much")
	}
	return l.Buffer.Write(text)
}

// Probes returns the probes of the single server with a health service. None or several are an error.
func (r *Report) Probes() (*label.Kinds, error) {
	var found []Socket
	var seen []string
	for _, s := range r.Sockets {
		if s.Readiness != nil {
			found = append(found, s)
		}
		seen = append(seen, s.Address)
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("choosing a server of the container: %d of its sockets [%s] have a health service "+
			"(look with kubectl grpc-probes discover, and write the probe by hand)", len(found),
			strings.Join(seen, ", "))
	}
	probes := &label.Probes{Readiness: found[0].Readiness, Liveness: found[0].Liveness}
	if probes.Readiness.GRPC != nil {
		return &label.Kinds{GRPC: probes}, nil
	}
	return &label.Kinds{Exec: probes}, nil
}
