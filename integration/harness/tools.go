package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// tool is a program of another project, pinned in a go.mod of this repository and compiled from its module.
type tool struct {
	folder  string // whose go.mod pins it, relative to the repository
	module  string
	pkg     string
	version string // the variable with the program's own version, "=", and what it has before the numbers; or empty
	tags    string // build tags, separated by commas
	cgo     bool   // it is linked with C, and runs on this machine alone
}

// Where the programs of the tests' cluster are pinned, and the variables of their versions.
const (
	clusterTools      = "integration/cluster/tools/"
	kubernetesVersion = "k8s.io/component-base/version.gitVersion=v"
	containerdVersion = "github.com/containerd/containerd/v2/version.Version=v"
	containerdTags    = "no_btrfs,no_zfs,no_devmapper,urfave_cli_no_docs"
)

// kubernetes is one of the programs in Kubernetes' own module.
func kubernetes(name string) tool {
	return tool{
		folder: clusterTools + "kubernetes", module: "k8s.io/kubernetes", pkg: "k8s.io/kubernetes/cmd/" + name,
		version: kubernetesVersion,
	}
}

// containerd is one of the programs in containerd's module.
func containerd(name string) tool {
	const module = "github.com/containerd/containerd/v2"
	return tool{
		folder: clusterTools + "containerd", module: module, pkg: module + "/cmd/" + name, version: containerdVersion,
		tags: containerdTags,
	}
}

// kpack is one of the programs in kpack's module.
func kpack(name string) tool {
	const module = "github.com/pivotal/kpack"
	return tool{
		folder: clusterTools + "kpack", module: module, pkg: module + "/cmd/" + name, version: module + "/cmd.Version=",
	}
}

// tekton is one of the programs in the module of Tekton Pipelines.
func tekton(name string) tool {
	const module = "github.com/tektoncd/pipeline"
	return tool{folder: clusterTools + "tekton", module: module, pkg: module + "/cmd/" + name}
}

// tools have modules of their own: the lifecycle does not compile with the version of moby/go-archive that pack needs,
// and a module can have only one version of the lifecycle.
var tools = map[string]tool{
	"pack": {
		folder: "integration", module: "github.com/buildpacks/pack",
		pkg: "github.com/buildpacks/pack", version: "github.com/buildpacks/pack/pkg/client.Version=",
	},
	"crane": {
		folder: "integration", module: "github.com/google/go-containerregistry",
		pkg:     "github.com/google/go-containerregistry/cmd/crane",
		version: "github.com/google/go-containerregistry/cmd/crane/cmd.Version=",
	},
	"lifecycle": {
		folder: "integration/lifecycle", module: "github.com/buildpacks/lifecycle",
		pkg: "github.com/buildpacks/lifecycle/cmd/lifecycle", version: "github.com/buildpacks/lifecycle/cmd.Version=",
	},
	"launcher": {
		folder: "integration/lifecycle", module: "github.com/buildpacks/lifecycle",
		pkg: "github.com/buildpacks/lifecycle/cmd/launcher", version: "github.com/buildpacks/lifecycle/cmd.Version=",
	},
	"etcd": {
		folder: clusterTools + "kubernetes", module: "go.etcd.io/etcd/server/v3", pkg: "go.etcd.io/etcd/server/v3",
		version: "go.etcd.io/etcd/api/v3/version.Version=",
	},
	"kube-apiserver":          kubernetes("kube-apiserver"),
	"kube-controller-manager": kubernetes("kube-controller-manager"),
	"kube-proxy":              kubernetes("kube-proxy"),
	"kube-scheduler":          kubernetes("kube-scheduler"),
	"kubectl":                 kubernetes("kubectl"),
	"kubelet":                 kubernetes("kubelet"),
	"containerd":              containerd("containerd"),
	"containerd-shim-runc-v2": containerd("containerd-shim-runc-v2"),
	"runc": {
		folder: clusterTools + "runc", module: "github.com/opencontainers/runc", pkg: "github.com/opencontainers/runc",
		version: "main.version=", tags: "seccomp,urfave_cli_no_docs", cgo: true,
	},
	"registry": {
		folder: "integration/distribution", module: "github.com/distribution/distribution/v3",
		pkg:     "github.com/distribution/distribution/v3/cmd/registry",
		version: "github.com/distribution/distribution/v3/version.version=v",
	},
	"cosign": {
		folder: "integration/cosign", module: "github.com/sigstore/cosign/v3",
		pkg: "github.com/sigstore/cosign/v3/cmd/cosign", version: "sigs.k8s.io/release-utils/version.gitVersion=v",
	},
	"kpack-build-init":  kpack("build-init"),
	"kpack-completion":  kpack("completion"),
	"kpack-controller":  kpack("controller"),
	"kpack-rebase":      kpack("rebase"),
	"kpack-webhook":     kpack("webhook"),
	"tekton-controller": tekton("controller"),
	"tekton-entrypoint": tekton("entrypoint"),
	"tekton-webhook":    tekton("webhook"),
	"skaffold": {
		folder: clusterTools + "skaffold", module: "github.com/GoogleContainerTools/skaffold/v2",
		pkg:     "github.com/GoogleContainerTools/skaffold/v2/cmd/skaffold",
		version: "github.com/GoogleContainerTools/skaffold/v2/pkg/skaffold/version.version=v",
	},
	"oldest lifecycle": {
		folder: "integration/lifecycle/oldest", module: "github.com/buildpacks/lifecycle",
		pkg: "github.com/buildpacks/lifecycle/cmd/lifecycle", version: "github.com/buildpacks/lifecycle/cmd.Version=",
	},
	"oldest launcher": {
		folder: "integration/lifecycle/oldest", module: "github.com/buildpacks/lifecycle",
		pkg: "github.com/buildpacks/lifecycle/cmd/launcher", version: "github.com/buildpacks/lifecycle/cmd.Version=",
	},
}

// quickly are options of go build for what runs for seconds, the tools and the apps of the tests: without inlining and
// debug information most packages take two thirds of the time to compile. Go's own packages are compiled as for all
// other programs. scripts/demo.sh, test.sh and tool.sh have the same options, so that a package is compiled once.
var quickly = []string{"-gcflags=all=-l -dwarf=false", "-gcflags=std="}

// settings are the options of go build for a tool: none for those of the cluster, in which the tests measure.
func (t tool) settings() []string {
	if strings.HasPrefix(t.folder, clusterTools) {
		return nil
	}
	return quickly
}

// Tool returns the path of one of the tools, compiled now or by an earlier run.
func (k *Fixture) Tool(ctx context.Context, name string) (string, error) {
	k.compiling.Lock()
	defer k.compiling.Unlock()
	t := tools[name]
	key, err := t.key(k.repo)
	if err != nil {
		return "", err
	}
	path := k.Dist(filepath.Join("tools", key, name))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	version, err := k.version(ctx, name)
	if err != nil {
		return "", err
	}
	defer k.LongStep("compiling %s %s (once)", name, version)()
	// The program is compiled under another name and renamed, so that an interrupted run leaves no incomplete program.
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	ldflags := "-s -w"
	if t.version != "" {
		ldflags += " -X " + t.version + version
	}
	args := append([]string{"build"}, t.settings()...)
	build := k.goCommand(ctx, t.folder, append(args, "-tags", t.tags, "-ldflags", ldflags, "-o", fresh, t.pkg)...)
	if t.cgo {
		build.Env = append(build.Env, "CGO_ENABLED=1")
	}
	if _, err := run(build); err != nil {
		return "", err
	}
	return path, os.Rename(fresh, path)
}

// version is the version of a tool that its go.mod names, without the v.
func (k *Fixture) version(ctx context.Context, name string) (string, error) {
	t := tools[name]
	version, err := run(k.goCommand(ctx, t.folder, "list", "-m", "-f", "{{.Version}}", t.module))
	return strings.TrimPrefix(version, "v"), err
}

// ToolModule returns the folder with the files of a tool's module, which the go command downloads if it is not there.
func (k *Fixture) ToolModule(ctx context.Context, name string) (string, error) {
	t := tools[name]
	if _, err := run(k.goCommand(ctx, t.folder, "mod", "download", t.module)); err != nil {
		return "", err
	}
	return run(k.goCommand(ctx, t.folder, "list", "-m", "-f", "{{.Dir}}", t.module))
}

// key changes with everything that the program is compiled from.
func (t tool) key(repo string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), runtime.GOARCH, t, t.settings())
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(repo, t.folder, name))
		if err != nil {
			return "", err
		}
		sum.Write(content)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}

// goCommand is the go command in a folder of the repository. Programs are static, since the images have no libc, and
// are compiled with the settings of the scripts, so that both share what is compiled.
func (k *Fixture) goCommand(ctx context.Context, folder string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(k.repo, folder)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=-buildvcs=false -trimpath")
	cmd.ExtraFiles = []*os.File{k.sweeper.alive} // it makes the folder of its output again
	return cmd
}
