package kubelet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// node is the one that all tests share. Its logs stay in the folder logs.
var (
	node           *Node
	kubeletProgram string
)

const logs = "../../dist"

func TestMain(m *testing.M) {
	Main()
	if len(os.Args) == 4 && os.Args[1] == callerRole {
		fmt.Fprintln(os.Stderr, call(os.Args[2], os.Args[3]))
		os.Exit(1)
	}
	code, err := testMain(m)
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		code = 1
	}
	os.Exit(code)
}

func testMain(m *testing.M) (code int, err error) {
	ctx := context.Background()
	err = Needs()
	if err == nil {
		_, err = harness.DockerAPI(ctx)
	}
	if err != nil {
		if os.Getenv("CI") == "true" {
			return 1, fmt.Errorf("CI=true needs: %w", err)
		}
		fmt.Printf("left out: a kubelet needs %v\n", err)
		return 0, nil
	}
	kit, err := harness.New(ctx, "../..", os.Stderr)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, kit.Close()) }()
	if node, err = startNode(ctx, kit); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, node.Close()) }()
	if err := importImages(ctx, kit); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

func startNode(ctx context.Context, kit *harness.Kit) (*Node, error) {
	var err error
	if kubeletProgram, err = kit.Tool(ctx, "kubelet"); err != nil {
		return nil, err
	}
	defer kit.Step("starting a node")()
	return Start(ctx, kubeletProgram, logs)
}

// The images of the examples' app: appImage as they name it, fullImage with the probe's full variant.
const (
	appImage  = "registry.example.com/my-app:1.0.0"
	fullImage = "registry.example.com/my-app:1.0.0-full"
)

// importImages builds the images with pack and puts them into the node, where they have the examples' names.
func importImages(ctx context.Context, kit *harness.Kit) (err error) {
	pause, err := kit.ProgramImage(ctx, "integration/kubelet/pause")
	if err != nil {
		return err
	}
	if err := node.Import(ctx, PauseImage, pause); err != nil {
		return err
	}
	defer kit.Step("building the images with pack")()
	docker, err := kit.Docker(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, docker.Close()) }()
	app, err := kit.StageSample(ctx, nil)
	if err != nil {
		return err
	}
	for ref, variant := range map[string]string{appImage: "lean", fullImage: "full"} {
		image, err := docker.Build(ctx, harness.Build{
			Name: variant, App: app, Buildpack: kit.Dist("buildpack"),
			Env: []string{"BP_GRPC_HEALTH_PROBE_VARIANT=" + variant},
		})
		if err != nil {
			return err
		}
		if err := node.Import(ctx, ref, image.Image); err != nil {
			return err
		}
	}
	return nil
}
