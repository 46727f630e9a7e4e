package schemas

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/ecs"
	"github.com/aws/aws-sdk-go-v2/service/ecs/types"
	"github.com/containers/podman/v5/pkg/systemd/parser"
	"github.com/containers/podman/v5/pkg/systemd/quadlet"
	"github.com/hashicorp/nomad/jobspec2"
)

const probePath = "/layers/grpc-cnb_health-probe/probe/bin/grpc_health_probe"

// example reads a file of examples.
func example(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("../../examples/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestQuadlet has Quadlet's own generator make the command line of podman run, which refuses unknown keys.
func TestQuadlet(t *testing.T) {
	t.Parallel()
	const name = "my-app.container"
	unit := parser.NewUnitFile()
	unit.Filename = name
	if err := unit.Parse(string(example(t, "podman/"+name))); err != nil {
		t.Fatal(err)
	}
	info := map[string]*quadlet.UnitInfo{name: {ServiceName: "my-app"}}
	service, warnings, err := quadlet.ConvertContainer(unit, false, info)
	if err != nil || warnings != nil {
		t.Fatal(err, warnings)
	}
	line, _ := service.Lookup("Service", "ExecStart")
	line = strings.ReplaceAll(line, `\x20`, " ") // as systemd reads it
	for _, want := range []string{
		`--health-cmd "CMD ` + probePath + `" `, "--health-timeout 4s ", "--health-on-failure kill ",
		"--sdnotify=healthy ", "--health-start-period 30s ",
	} {
		if !strings.Contains(line, want) {
			t.Errorf("podman's command line has no %q: %s", want, line)
		}
	}
}

// TestECS decodes the task definition into what the SDK registers. The service's own limits are from its reference,
// API_HealthCheck.
func TestECS(t *testing.T) {
	t.Parallel()
	var task ecs.RegisterTaskDefinitionInput
	decoder := json.NewDecoder(bytes.NewReader(example(t, "ecs/task-definition.json")))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&task); err != nil {
		t.Fatal(err)
	}
	if len(task.ContainerDefinitions) != 2 {
		t.Fatalf("there are %d containers, want 2", len(task.ContainerDefinitions))
	}
	app, caller := task.ContainerDefinitions[0], task.ContainerDefinitions[1]
	check := app.HealthCheck
	if check == nil || !slices.Equal(check.Command, []string{"CMD", probePath}) {
		t.Fatalf("the health check is %+v", check)
	}
	for name, limit := range map[string]struct {
		value     *int32
		min, most int32
	}{
		"interval": {check.Interval, 5, 300}, "timeout": {check.Timeout, 2, 60}, "retries": {check.Retries, 1, 10},
		"startPeriod": {check.StartPeriod, 0, 300},
	} {
		if limit.value == nil || *limit.value < limit.min || *limit.value > limit.most {
			t.Errorf("%s is not from %d to %d", name, limit.min, limit.most)
		}
	}
	isKnown := slices.Contains(task.NetworkMode.Values(), task.NetworkMode) &&
		!slices.ContainsFunc(task.RequiresCompatibilities, func(c types.Compatibility) bool {
			return !slices.Contains(c.Values(), c)
		})
	if !isKnown {
		t.Errorf("ECS does not know the network mode %q or one of %q", task.NetworkMode, task.RequiresCompatibilities)
	}
	if len(caller.DependsOn) != 1 || caller.DependsOn[0].Condition != types.ContainerConditionHealthy ||
		*caller.DependsOn[0].ContainerName != *app.Name {
		t.Errorf("the caller depends on %+v", caller.DependsOn)
	}
}

// TestNomad parses the job as Nomad does, which refuses unknown attributes and blocks.
func TestNomad(t *testing.T) {
	t.Parallel()
	const name = "nomad/my-app.nomad.hcl"
	parse := func(text []byte) error {
		_, err := jobspec2.ParseWithConfig(&jobspec2.ParseConfig{Path: name, Body: text, Strict: true})
		return err
	}
	text := example(t, name)
	job, err := jobspec2.ParseWithConfig(&jobspec2.ParseConfig{Path: name, Body: text, Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	job.Canonicalize()
	group := job.TaskGroups[0]
	check := group.Services[0].Checks[0]
	// Only Consul takes script checks.
	if check.Type != "script" || group.Services[0].Provider != "consul" || check.TaskName != group.Tasks[0].Name {
		t.Errorf("the check is %+v of the provider %q", check, group.Services[0].Provider)
	}
	if check.Command != probePath || len(check.Args) != 0 {
		t.Errorf("the command is %q with %q", check.Command, check.Args)
	}
	const overHTTP = "nomad/my-app-http.nomad.hcl"
	job, err = jobspec2.ParseWithConfig(&jobspec2.ParseConfig{Path: overHTTP, Body: example(t, overHTTP), Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	job.Canonicalize()
	service := job.TaskGroups[0].Services[0]
	for i, path := range []string{"/readyz", "/livez"} {
		check := service.Checks[i]
		if check.Type != "http" || check.Path != path || check.PortLabel != "health" || service.Provider != "nomad" {
			t.Errorf("the check is %+v of the provider %q", check, service.Provider)
		}
	}
	if err := parse(bytes.Replace(text, []byte("check_restart"), []byte("restart_check"), 1)); err == nil {
		t.Error("a block that Nomad does not know passes")
	}
}
