package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/grpc-cnb/health-probe/integration/harness"
)

// All tests share the cluster, whose logs stay in the folder logs, and what its images are made with.
var (
	cluster *Cluster
	fixture *harness.Fixture
	docker  *harness.Docker
)

const logs = "../../dist/logs/cluster"

func TestMain(m *testing.M) {
	Main()
	if len(os.Args) == 4 && os.Args[1] == callerRole {
		fmt.Fprintln(os.Stderr, startAndWait(os.Args[2], os.Args[3]))
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
		fmt.Printf("left out: a cluster needs %v\n", err)
		return 0, nil
	}
	fixture, err = harness.New(ctx, "../..", os.Stderr)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, fixture.Close()) }()
	bin, err := Programs(ctx, fixture)
	if err != nil {
		return 1, err
	}
	if err := os.RemoveAll(logs); err != nil {
		return 1, err
	}
	started := fixture.Step("starting a cluster")
	if cluster, err = Start(ctx, bin, logs); err != nil {
		return 1, err
	}
	started()
	defer func() { err = errors.Join(err, cluster.Close()) }()
	if docker, err = fixture.Docker(ctx); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, docker.Close()) }()
	if err := cluster.PushImages(ctx, fixture, docker); err != nil {
		return 1, err
	}
	if against != "" {
		if err := pushCompared(ctx); err != nil {
			return 1, err
		}
	}
	return m.Run(), nil
}
