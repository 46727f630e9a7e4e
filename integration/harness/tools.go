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

// tool is a program of another project, pinned in a go.mod of this repository and compiled from the program's module.
type tool struct {
	folder   string // folder of the go.mod, relative to the repository
	module   string
	pkg      string // path below the module, with a leading slash; empty for the module's root
	version  string // variable for the program's version, "=", and the text before the numbers; or empty
	tags     string // build tags, separated by commas
	cgo      bool   // linked with C, for this machine alone
	measured bool   // measured by tests, and so compiled with the makers' settings
}

// The folders of the modules that pin programs: the programs of sharedTools compile with the same versions of
// dependencies.
const (
	sharedTools  = "integration/tools"
	clusterTools = "integration/cluster/tools/"
)

func kubernetes(name string) tool {
	return tool{
		folder: clusterTools + "kubernetes", module: "k8s.io/kubernetes", pkg: "/cmd/" + name,
		version: "k8s.io/component-base/version.gitVersion=v", measured: true,
	}
}

func containerd(name string) tool {
	const module = "github.com/containerd/containerd/v2"
	return tool{
		folder: sharedTools, module: module, pkg: "/cmd/" + name, version: module + "/version.Version=v",
		tags: "no_btrfs,no_zfs,no_devmapper,urfave_cli_no_docs", measured: true,
	}
}

func lifecycleProgram(folder, name string) tool {
	const module = "github.com/buildpacks/lifecycle"
	return tool{folder: folder, module: module, pkg: "/cmd/" + name, version: module + "/cmd.Version="}
}

func kpack(name string) tool {
	const module = "github.com/pivotal/kpack"
	return tool{folder: clusterTools + "kpack", module: module, pkg: "/cmd/" + name, version: module + "/cmd.Version="}
}

func tekton(name string) tool {
	return tool{folder: clusterTools + "tekton", module: "github.com/tektoncd/pipeline", pkg: "/cmd/" + name}
}

// tools has the programs by the tests' names.
var tools = map[string]tool{
	"pack": {
		folder: "integration", module: "github.com/buildpacks/pack",
		version: "github.com/buildpacks/pack/pkg/client.Version=",
	},
	"crane": {
		folder: "integration", module: "github.com/google/go-containerregistry", pkg: "/cmd/crane",
		version: "github.com/google/go-containerregistry/cmd/crane/cmd.Version=",
	},
	"lifecycle":        lifecycleProgram(sharedTools, "lifecycle"),
	"launcher":         lifecycleProgram(sharedTools, "launcher"),
	"oldest lifecycle": lifecycleProgram(sharedTools+"/oldest", "lifecycle"),
	"oldest launcher":  lifecycleProgram(sharedTools+"/oldest", "launcher"),
	"etcd": {
		folder: clusterTools + "kubernetes", module: "go.etcd.io/etcd/server/v3",
		version: "go.etcd.io/etcd/api/v3/version.Version=", measured: true,
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
		folder: sharedTools, module: "github.com/opencontainers/runc", version: "main.version=",
		tags: "seccomp,urfave_cli_no_docs", cgo: true, measured: true,
	},
	"registry": {
		folder: sharedTools, module: "github.com/distribution/distribution/v3", pkg: "/cmd/registry",
		version: "github.com/distribution/distribution/v3/version.version=v",
	},
	"cosign": {
		folder: "integration/cosign", module: "github.com/sigstore/cosign/v3", pkg: "/cmd/cosign",
		version: "sigs.k8s.io/release-utils/version.gitVersion=v",
	},
	"kyverno": {
		folder: "integration/kyverno", module: "github.com/kyverno/kyverno",
		pkg: "/cmd/cli/kubectl-kyverno",
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
		folder: clusterTools + "skaffold", module: "github.com/GoogleContainerTools/skaffold/v2", pkg: "/cmd/skaffold",
		version: "github.com/GoogleContainerTools/skaffold/v2/pkg/skaffold/version.version=v",
	},
}

// quickly are options of go build for programs that run for seconds, the tools and the apps of the tests: without
// inlining and debug information most packages compile in two thirds of the time. Go's own packages are compiled as for
// all programs. scripts/demo.sh, test.sh and tool.sh have the same options, so that a package is compiled once.
var quickly = []string{"-gcflags=all=-l -dwarf=false", "-gcflags=std="}

func (t tool) settings() []string {
	if t.measured {
		return nil
	}
	return quickly
}

// Tool returns the path of a tool, compiled now or by an earlier run.
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
	args = append(args, "-tags", t.tags, "-ldflags", ldflags, "-o", fresh, t.module+t.pkg)
	build := k.goCommand(ctx, t.folder, args...)
	if t.cgo {
		build.Env = append(build.Env, "CGO_ENABLED=1")
	}
	if _, err := run(build); err != nil {
		return "", err
	}
	return path, os.Rename(fresh, path)
}

// version returns a tool's version from the go.mod, without the v.
func (k *Fixture) version(ctx context.Context, name string) (string, error) {
	t := tools[name]
	version, err := run(k.goCommand(ctx, t.folder, "list", "-m", "-f", "{{.Version}}", t.module))
	return strings.TrimPrefix(version, "v"), err
}

// ToolModule returns the folder with the files of a tool's module. The go command downloads a missing module.
func (k *Fixture) ToolModule(ctx context.Context, name string) (string, error) {
	t := tools[name]
	if _, err := run(k.goCommand(ctx, t.folder, "mod", "download", t.module)); err != nil {
		return "", err
	}
	return run(k.goCommand(ctx, t.folder, "list", "-m", "-f", "{{.Dir}}", t.module))
}

// key changes with every input of the program's compilation.
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

// goCommand returns a go command for a folder of the repository. Programs are static, since the images have no libc.
// The settings are those of the scripts, to share compiled packages.
func (k *Fixture) goCommand(ctx context.Context, folder string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(k.repo, folder)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=-buildvcs=false -trimpath")
	cmd.ExtraFiles = []*os.File{k.sweeper.alive} // go creates a removed output folder again
	return cmd
}
