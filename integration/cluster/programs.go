package cluster

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

const containerd = "containerd"

// Names are the programs of a cluster, by the harness's names of tools.
var Names = []string{
	"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubectl",
	containerd, "containerd-shim-runc-v2", "runc", "registry", "kubelet",
}

// PlatformNames are the programs of the platforms for tests on a cluster, by the harness's names of tools.
var PlatformNames = []string{
	"kpack-controller", "kpack-webhook", "kpack-build-init", "kpack-completion", "kpack-rebase",
	"tekton-controller", "tekton-webhook", "tekton-entrypoint", "skaffold",
}

// Programs compiles the programs of a cluster, or takes the programs of an earlier run, and returns a folder with all
// programs by name.
func Programs(ctx context.Context, fixture *harness.Fixture) (bin string, err error) {
	bin = fixture.Dist("cluster")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return "", err
	}
	for _, name := range Names {
		program, err := fixture.Tool(ctx, name)
		if err != nil {
			return "", err
		}
		link := filepath.Join(bin, name)
		if target, err := os.Readlink(link); err == nil && target == program {
			continue
		}
		if err := os.Remove(link); err != nil && !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		if err := os.Symlink(program, link); err != nil {
			return "", err
		}
	}
	return bin, nil
}

// program is a program of the cluster's init.
type program struct {
	name, group string
	args        []string
}

// programs returns the programs that need no other program, and the programs that need the API server.
func programs(folder string) (early, late []program) {
	in := func(name string) string { return filepath.Join(folder, name) }
	const etcd = "http://127.0.0.1:2379"
	early = []program{
		{"etcd", ControlGroup, []string{
			"--data-dir", in("etcd"), "--unsafe-no-fsync",
			"--listen-client-urls", etcd, "--advertise-client-urls", etcd,
			"--listen-peer-urls", "http://127.0.0.1:2380",
		}},
		{"kube-apiserver", ControlGroup, []string{
			"--etcd-servers", etcd,
			"--bind-address", Address, "--advertise-address", Address, "--secure-port", serverPort,
			"--cert-dir", in(certificates), "--token-auth-file", in(tokens), "--authorization-mode", "RBAC",
			"--service-cluster-ip-range", serviceNetwork,
			"--service-account-issuer", "https://kubernetes.default.svc",
			"--service-account-key-file", in(accountKey), "--service-account-signing-key-file", in(accountKey),
			"--kubelet-preferred-address-types", "InternalIP", "--allow-privileged",
			"--feature-gates", featureGate + "=true",
		}},
		{containerd, SystemGroup, []string{"--config", in(containerdFile)}},
		{"registry", ControlGroup, []string{"serve", in(registryFile)}},
	}
	late = []program{
		{"kube-controller-manager", ControlGroup, []string{
			"--kubeconfig", in(kubeconfig), "--leader-elect=false", "--bind-address", "127.0.0.1",
			"--cert-dir", in("controller-manager"), "--service-account-private-key-file", in(accountKey),
			"--root-ca-file", in(serverCertificate), "--cluster-cidr", podNetwork,
			"--service-cluster-ip-range", serviceNetwork,
			"--kube-api-qps", "200", "--kube-api-burst", "400", // for the namespaces of all tests at once
		}},
		{"kube-scheduler", ControlGroup, []string{
			"--kubeconfig", in(kubeconfig), "--leader-elect=false", "--bind-address", "127.0.0.1",
			"--cert-dir", in("scheduler"), "--kube-api-qps", "200", "--kube-api-burst", "400",
		}},
		{"kubelet", SystemGroup, []string{
			"--config", in(kubeletFile), "--kubeconfig", in(kubeconfig), "--root-dir", in("kubelet"),
			"--cert-dir", in("kubelet-certificates"), "--hostname-override", NodeName, "--node-ip", Address,
			"--housekeeping-interval", "5s", "--v", "2",
		}},
		{"kube-proxy", SystemGroup, []string{
			// A Service loses connections for as long as the rules lag behind the pods.
			"--kubeconfig", in(kubeconfig), "--proxy-mode", "iptables", "--iptables-min-sync-period", "100ms",
			// Pods share a bridge: without a masquerade an answer would bypass the rules.
			"--hostname-override", NodeName, "--cluster-cidr", podNetwork, "--masquerade-all",
			// The kernel's settings of connection tracking are the whole machine's.
			"--conntrack-max-per-core", "0", "--conntrack-tcp-timeout-established", "0",
			"--conntrack-tcp-timeout-close-wait", "0",
		}},
	}
	return early, late
}
