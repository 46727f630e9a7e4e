package kubelet

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	nodeName     = "node"
	bridge       = "node0"
	readOnlyPort = 10255

	containerdFile = "containerd.toml"
	kubeletFile    = "kubelet.json"
)

// socket is where containerd listens, reachable from outside the node too.
func socket(folder string) string { return filepath.Join(folder, "containerd.sock") }

// staticPods is the folder that the kubelet takes pods from.
func staticPods(folder string) string { return filepath.Join(folder, "pods") }

// settings writes what containerd, its network plugins and the kubelet are configured with.
func settings(folder string) error {
	networks := filepath.Join(folder, "net.d")
	return errors.Join(
		os.Mkdir(networks, 0o755),
		os.Mkdir(staticPods(folder), 0o755),
		os.WriteFile(filepath.Join(folder, containerdFile), containerdSettings(folder, networks), 0o644),
		writeJSON(filepath.Join(networks, "node.conflist"), networkSettings()),
		writeJSON(filepath.Join(folder, kubeletFile), kubeletSettings(folder)),
	)
}

// containerdSettings: a process's OOM score can be lowered with CAP_SYS_RESOURCE only, which a container that runs tests
// may lack; an AppArmor profile would stay in the kernel.
func containerdSettings(folder, networks string) []byte {
	return fmt.Appendf(nil, `version = 2
root = %q
state = "/run/containerd"
[grpc]
address = %q
[plugins."io.containerd.internal.v1.opt"]
path = %q
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = %q
restrict_oom_score_adj = true
disable_apparmor = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = %q
conf_dir = %q
`, filepath.Join(folder, "containerd"), socket(folder), filepath.Join(folder, "opt"), PauseImage, pluginFolder(), networks)
}

// networkSettings put each pod on the bridge (CNI specification, Network configuration format).
func networkSettings() any {
	return map[string]any{
		"cniVersion": "0.4.0",
		"name":       nodeName,
		"plugins": []any{map[string]any{
			"type":      "bridge",
			"bridge":    bridge,
			"isGateway": true,
			"ipam":      map[string]any{"type": "host-local", "subnet": network},
		}},
	}
}

// kubeletSettings are a node's that evicts nothing, for the disk and the memory are the whole machine's, and that changes
// nothing outside its namespaces and its cgroup.
func kubeletSettings(folder string) any {
	never := map[string]string{}
	for _, signal := range []string{
		"memory.available", "nodefs.available", "nodefs.inodesFree", "imagefs.available", "imagefs.inodesFree",
	} {
		never[signal] = "0%"
	}
	off := map[string]any{"enabled": false}
	return map[string]any{
		"apiVersion":                  "kubelet.config.k8s.io/v1beta1",
		"kind":                        "KubeletConfiguration",
		"staticPodPath":               staticPods(folder),
		"fileCheckFrequency":          "1s",
		"podLogsDir":                  filepath.Join(folder, "logs"),
		"volumePluginDir":             filepath.Join(folder, "volume-plugins"),
		"resolvConf":                  "/dev/null",
		"containerRuntimeEndpoint":    "unix://" + socket(folder),
		"cgroupDriver":                "cgroupfs",
		"cgroupRoot":                  "/" + filepath.Base(folder),
		"enforceNodeAllocatable":      []string{},
		"failCgroupV1":                false,
		"failSwapOn":                  false,
		"oomScoreAdj":                 0,
		"protectKernelDefaults":       true,
		"makeIPTablesUtilChains":      false,
		"authentication":              map[string]any{"anonymous": off, "webhook": off},
		"authorization":               map[string]any{"mode": "AlwaysAllow"},
		"address":                     "127.0.0.1",
		"readOnlyPort":                readOnlyPort,
		"registerNode":                false,
		"maxPods":                     250,
		"evictionHard":                never,
		"imageGCHighThresholdPercent": 100,
	}
}

func writeJSON(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}
