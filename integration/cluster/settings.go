package cluster

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Files and folders of a cluster, below the cluster's folder.
const (
	kubeconfig        = "kubeconfig"
	tokenFile         = "token"
	tokens            = "tokens.csv"
	accountKey        = "service-accounts.key"
	certificates      = "certificates"
	serverCertificate = "certificates/apiserver.crt" // made by the API server
	containerdFile    = "containerd.toml"
	kubeletFile       = "kubelet.json"
	registryFile      = "registry.yaml"

	// featureGate is TLS of Kubernetes' own gRPC probe (KEP-4939), alpha and off elsewhere.
	featureGate = "GRPCContainerProbeTLS"

	serverPort   = "6443"
	readOnlyPort = 10255 // of the kubelet, for metrics
)

// PauseImage is the image of each pod's first container: push the image before the first pod.
const PauseImage = "pause.invalid/pause:1.0.0"

// socket is containerd's socket, reachable from outside the node too.
func socket(folder string) string { return filepath.Join(folder, "containerd.sock") }

// settings writes the programs' configuration.
func settings(folder, bin string) error {
	in := func(name string) string { return filepath.Join(folder, name) }
	token := rand.Text()
	key, err := signingKey()
	if err != nil {
		return err
	}
	return errors.Join(
		os.MkdirAll(in("net.d"), 0o755),
		os.MkdirAll(in("hosts.d/_default"), 0o755),
		os.WriteFile(in(tokens), fmt.Appendf(nil, "%s,admin,1,\"system:masters\"\n", token), 0o600),
		os.WriteFile(in(tokenFile), []byte(token), 0o600),
		os.WriteFile(in(accountKey), key, 0o600),
		writeJSON(in(kubeconfig), clientSettings(folder, token)),
		os.WriteFile(in("hosts.d/_default/hosts.toml"), mirror, 0o644),
		os.WriteFile(in(containerdFile), containerdSettings(folder, bin), 0o644),
		os.WriteFile(in(registryFile), fmt.Appendf(nil, registrySettings, in("registry"), Registry), 0o644),
		writeJSON(in("net.d/node.conflist"), networkSettings()),
		writeJSON(in(kubeletFile), kubeletSettings(folder)),
	)
}

// signingKey makes the key that signs the tokens of service accounts.
func signingKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), err
}

// clientSettings are the administrator's kubeconfig.
func clientSettings(folder, token string) any {
	const name = "cluster"
	return map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": name,
		"clusters": []any{map[string]any{"name": name, "cluster": map[string]any{
			"server":                "https://" + Address + ":" + serverPort,
			"certificate-authority": filepath.Join(folder, serverCertificate),
		}}},
		"users": []any{map[string]any{"name": name, "user": map[string]any{"token": token}}},
		"contexts": []any{map[string]any{
			"name": name, "context": map[string]any{"cluster": name, "user": name},
		}},
	}
}

// registrySettings configure distribution's registry (distribution's documentation, Configuration).
const registrySettings = `version: 0.1
log: {level: warn}
storage:
  filesystem: {rootdirectory: %q}
  delete: {enabled: true}
http: {addr: %q}
`

// mirror sends containerd to the cluster's registry for the images of all registries (containerd, docs/hosts.md).
var mirror = fmt.Appendf(nil, "server = %q\n[host.%[1]q]\ncapabilities = [\"pull\", \"resolve\"]\n",
	"http://"+Registry)

// containerdSettings avoid two effects: only CAP_SYS_RESOURCE, which a container of tests may lack, can lower a
// process's OOM score; an AppArmor profile would stay in the kernel.
func containerdSettings(folder, bin string) []byte {
	return fmt.Appendf(nil, `version = 3
root = %q
state = "/run/containerd"
[grpc]
address = %q
[plugins.'io.containerd.internal.v1.opt']
path = %q
[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = %q
[plugins.'io.containerd.cri.v1.images'.registry]
config_path = %q
[plugins.'io.containerd.cri.v1.runtime']
restrict_oom_score_adj = true
disable_apparmor = true
[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = [%q]
conf_dir = %q
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
BinaryName = %q
`, filepath.Join(folder, "containerd"), socket(folder), filepath.Join(folder, "opt"), PauseImage,
		filepath.Join(folder, "hosts.d"), pluginFolder(), filepath.Join(folder, "net.d"), filepath.Join(bin, "runc"))
}

// networkSettings put each pod on the bridge (CNI specification, Network configuration format). hairpinMode lets a pod
// reach itself through a Service.
func networkSettings() any {
	return map[string]any{
		"cniVersion": "0.4.0",
		"name":       NodeName,
		"plugins": []any{
			map[string]any{
				"type": "bridge", "bridge": bridge, "isGateway": true, "hairpinMode": true,
				"ipam": map[string]any{
					"type": "host-local", "subnet": podNetwork, "routes": []any{map[string]any{"dst": "0.0.0.0/0"}},
				},
			},
			map[string]any{"type": "portmap", "capabilities": map[string]any{"portMappings": true}},
		},
	}
}

// kubeletSettings describe a node that evicts nothing, for disk and memory are the whole machine's, and that changes
// nothing outside the cluster's namespaces and cgroup.
func kubeletSettings(folder string) any {
	never := map[string]string{}
	for _, signal := range []string{
		"memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree",
	} {
		never[signal] = "0%"
	}
	return map[string]any{
		"apiVersion":               "kubelet.config.k8s.io/v1beta1",
		"kind":                     "KubeletConfiguration",
		"podLogsDir":               filepath.Join(folder, "logs"),
		"volumePluginDir":          filepath.Join(folder, "volume-plugins"),
		"resolvConf":               "/dev/null",
		"clusterDNS":               []string{Address}, // without a server there, a lookup fails at once
		"containerRuntimeEndpoint": "unix://" + socket(folder),
		"cgroupDriver":             "cgroupfs",
		"cgroupRoot":               "/" + filepath.Base(folder),
		"enforceNodeAllocatable":   []string{},
		"failCgroupV1":             false,
		"failSwapOn":               false,
		"oomScoreAdj":              0,
		"protectKernelDefaults":    true,
		"makeIPTablesUtilChains":   false,
		"authentication": map[string]any{ // the port is the cluster's alone, and the API server has no certificate
			"anonymous": map[string]any{"enabled": true}, "webhook": map[string]any{"enabled": false},
		},
		"authorization":               map[string]any{"mode": "AlwaysAllow"},
		"address":                     Address,
		"readOnlyPort":                readOnlyPort,
		"nodeStatusUpdateFrequency":   "2s",
		"maxPods":                     250,
		"serializeImagePulls":         false,
		"evictionHard":                never,
		"imageGCHighThresholdPercent": 100,
		"featureGates":                map[string]bool{featureGate: true},
	}
}

func writeJSON(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}
