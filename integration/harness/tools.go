package harness

import (
	"context"
	"crypto/sha256"
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
	version string // the variable that holds the program's own version, "=", and what it has before the numbers
}

// tools are compiled each in its own module: no lifecycle compiles with the version of moby/go-archive that pack needs, and a
// module has one version of the lifecycle.
var tools = map[string]tool{
	"pack": {
		"integration", "github.com/buildpacks/pack", "github.com/buildpacks/pack",
		"github.com/buildpacks/pack/pkg/client.Version=",
	},
	"lifecycle": {
		"integration/lifecycle", "github.com/buildpacks/lifecycle", "github.com/buildpacks/lifecycle/cmd/lifecycle",
		"github.com/buildpacks/lifecycle/cmd.Version=",
	},
	"launcher": {
		"integration/lifecycle", "github.com/buildpacks/lifecycle", "github.com/buildpacks/lifecycle/cmd/launcher",
		"github.com/buildpacks/lifecycle/cmd.Version=",
	},
	"kubelet": {
		"integration/kubelet/tool", "k8s.io/kubernetes", "k8s.io/kubernetes/cmd/kubelet",
		"k8s.io/component-base/version.gitVersion=v",
	},
	"oldest lifecycle": {
		"integration/lifecycle/oldest", "github.com/buildpacks/lifecycle", "github.com/buildpacks/lifecycle/cmd/lifecycle",
		"github.com/buildpacks/lifecycle/cmd.Version=",
	},
	"oldest launcher": {
		"integration/lifecycle/oldest", "github.com/buildpacks/lifecycle", "github.com/buildpacks/lifecycle/cmd/launcher",
		"github.com/buildpacks/lifecycle/cmd.Version=",
	},
}

// Tool returns the path of a tool (pack, lifecycle, launcher, kubelet), compiled now or by an earlier run.
func (k *Kit) Tool(ctx context.Context, name string) (string, error) {
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
	defer k.Step("compiling %s %s (once; half a minute or more, minutes for a kubelet)", name, version)()
	// Compiled beside its place and moved there whole: an interrupted run leaves no half program.
	fresh := fmt.Sprintf("%s.%d", path, os.Getpid())
	ldflags := fmt.Sprintf("-s -w -X %s%s", t.version, version)
	if _, err := run(k.goCommand(ctx, t.folder, "build", "-trimpath", "-ldflags", ldflags, "-o", fresh, t.pkg)); err != nil {
		return "", err
	}
	return path, os.Rename(fresh, path)
}

// version is the version of a tool that its go.mod names, without the v.
func (k *Kit) version(ctx context.Context, name string) (string, error) {
	t := tools[name]
	version, err := run(k.goCommand(ctx, t.folder, "list", "-m", "-f", "{{.Version}}", t.module))
	return strings.TrimPrefix(version, "v"), err
}

// key changes with everything that the program is compiled from.
func (t tool) key(repo string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version(), runtime.GOARCH, t)
	for _, name := range []string{"go.mod", "go.sum"} {
		content, err := os.ReadFile(filepath.Join(repo, t.folder, name))
		if err != nil {
			return "", err
		}
		sum.Write(content)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8]), nil
}

// goCommand is the go command in a folder of the repository. Programs are static, since the images have no libc.
func (k *Kit) goCommand(ctx context.Context, folder string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = filepath.Join(k.repo, folder)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS=-buildvcs=false")
	cmd.ExtraFiles = []*os.File{k.sweeper.alive} // it makes the folder of its output again
	return cmd
}
