package build

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/build/execprobe"
	"github.com/grpc-cnb/health-probe/build/labeltest"
	"github.com/grpc-cnb/health-probe/internal/config"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

const repository = ".."

// TestSchemaDescribesTheLabel compares the keys in the schema, each with its description, with those that the code
// writes, and those that a label must have with those that are always written.
func TestSchemaDescribesTheLabel(t *testing.T) {
	t.Parallel()
	schema, err := labeltest.ReadSchema(repository)
	if err != nil {
		t.Fatal(err)
	}
	compareKeys(t, schema["$defs"].(labeltest.Object), "the label", schema, reflect.TypeFor[label]())
}

func compareKeys(t *testing.T, shared labeltest.Object, where string, schema labeltest.Object, written reflect.Type) {
	t.Helper()
	if reference, _ := schema["$ref"].(string); reference != "" {
		schema, _ = shared[path.Base(reference)].(labeltest.Object)
	}
	properties, _ := schema["properties"].(labeltest.Object)
	var keys, always []string
	for _, field := range reflect.VisibleFields(written) {
		key, option, _ := strings.Cut(field.Tag.Get("json"), ",")
		if key == "" {
			continue
		}
		keys = append(keys, key)
		if option != "omitempty" {
			always = append(always, key)
		}
		property, ok := properties[key].(labeltest.Object)
		if !ok {
			t.Errorf("docs/label.schema.json: add the key %q of %s", key, where)
			continue
		}
		if description, _ := property["description"].(string); description == "" {
			t.Errorf("docs/label.schema.json: describe the key %q of %s", key, where)
		}
		kind := field.Type
		if kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		if kind.Kind() == reflect.Slice && kind.Elem().Kind() == reflect.Struct {
			kind = kind.Elem()
			property, _ = property["items"].(labeltest.Object)
		}
		if kind.Kind() == reflect.Struct {
			compareKeys(t, shared, key, property, kind)
		}
	}
	for key := range properties {
		if !slices.Contains(keys, key) {
			t.Errorf("docs/label.schema.json: the code writes no key %q of %s", key, where)
		}
	}
	var required []string
	keysRequired, _ := schema["required"].([]any)
	for _, key := range keysRequired {
		required = append(required, key.(string))
	}
	if !slices.Equal(required, always) {
		t.Errorf("docs/label.schema.json: %s requires %q, and the code always writes %q", where, required, always)
	}
}

// TestLabelsAreValid holds labels of the code, and the example in the schema, against the schema.
func TestLabelsAreValid(t *testing.T) {
	t.Parallel()
	digest := strings.Repeat("0123456789abcdef", 4)
	exec := execprobe.Probe{Command: []string{"/probe", "-addr=localhost:5000"}, TimeoutSeconds: 3}
	address := plan.Address{Port: 5000, Certainty: plan.Written}
	for name, service := range map[string]plan.Server{
		"asked for": {},
		"all known": {
			Language: "go", Framework: "grpc-go", Evidence: plan.Place{Path: "main.go", Line: 3},
			Health: plan.HealthMissing,
			Address: plan.Address{
				Host: plan.UnixSocket, Socket: "unix:/a", Certainty: plan.Default, Variable: "SOCKET",
			},
			Security: plan.Security{Transport: plan.TLS},
		},
		"found": {Language: "go", Health: plan.HealthRegistered, Address: address},
	} {
		p := program{version: "v1.0.0", source: "bundled", variant: "lean", sha256: digest}
		beside := newBridge(exec, &p, config.Config{Bridge: config.BridgeTrue}, true)
		within := newBridge(exec, &p, config.Config{Bridge: config.BridgeLaunch, Processes: []string{"web"}}, true)
		for i, args := range [][]string{nil, {}, {"-rpc-header=a: b"}} {
			l, err := imageLabel(exec, []*bridge{nil, beside, within}[i], p, args, listed(service))
			if err != nil {
				t.Fatal(err)
			}
			if err := labeltest.Check(repository, l.Value); err != nil {
				t.Errorf("%s, with %q: %v", name, args, err)
			}
		}
	}
	schema, err := labeltest.ReadSchema(repository)
	if err != nil {
		t.Fatal(err)
	}
	for _, example := range schema["examples"].([]any) {
		text, err := json.Marshal(example)
		if err != nil {
			t.Fatal(err)
		}
		if err := labeltest.Check(repository, string(text)); err != nil {
			t.Error(err)
		}
	}
}

// The label has the probes of each server as objects of Kubernetes. A server that the image's probe is not for has its
// address in them.
func TestProbesOfTheLabel(t *testing.T) {
	t.Parallel()
	server := func(line, port int) plan.Server {
		return plan.Server{
			Language: "go", Evidence: plan.Place{Path: "main.go", Line: line}, Health: plan.HealthRegistered,
			Address:  plan.Address{Host: plan.AllInterfaces, Port: port, Certainty: plan.Written},
			Security: plan.Security{Transport: plan.Plaintext},
		}
	}
	lead, second, unknown := server(3, 5000), server(4, 6000), server(5, 0)
	lead.Service, lead.Liveness = "ready", "live"
	unknown.Address = plan.Address{}
	defaults, err := execprobe.Defaults(nil)
	if err != nil {
		t.Fatal(err)
	}
	exec := execprobe.New(execprobe.Given{
		Path: "/probe", Defaults: defaults, Server: lead, IsOwn: true, ReadsAddress: true,
	})
	p := program{name: "grpc_health_bridge"}
	beside := newBridge(exec, &p, config.Config{Bridge: config.BridgeTrue}, false)
	l, err := imageLabel(exec, beside, p, nil, plan.List([]plan.Server{lead, second, unknown}))
	if err != nil {
		t.Fatal(err)
	}
	var written struct {
		Probes  json.RawMessage
		Servers []struct{ Probes json.RawMessage }
	}
	if err := json.Unmarshal([]byte(l.Value), &written); err != nil {
		t.Fatal(err)
	}
	const leading = `"exec":{` +
		`"readinessProbe":{"exec":{"command":["/probe","-service=ready"]},"timeoutSeconds":4},` +
		`"livenessProbe":{"exec":{"command":["/probe","-service=live"]},"timeoutSeconds":4}},` +
		`"grpc":{"readinessProbe":{"grpc":{"port":5000,"service":"ready"}},` +
		`"livenessProbe":{"grpc":{"port":5000,"service":"live"}}}`
	for i, c := range []struct{ got, want string }{
		{string(written.Probes), "{" + leading + `,"bridge":{"readinessProbe":{"grpc":{"port":8086}},` +
			`"livenessProbe":{"grpc":{"port":8086,"service":"live"}},` +
			`"initContainer":{"name":"health-bridge","restartPolicy":"Always",` +
			`"command":["/grpc_health_bridge","-service=ready"]}}}`},
		{string(written.Servers[0].Probes), "{" + leading + "}"},
		{string(written.Servers[1].Probes), `{"exec":{"readinessProbe":{"exec":{` +
			`"command":["/probe","-addr=localhost:6000"]},"timeoutSeconds":4}},` +
			`"grpc":{"readinessProbe":{"grpc":{"port":6000}}}}`},
		{string(written.Servers[2].Probes), ""},
	} {
		if c.got != c.want {
			t.Errorf("probes %d are\n%s, want\n%s", i, c.got, c.want)
		}
	}
}

// listed returns the servers of an app that has one, or none.
func listed(s plan.Server) plan.Servers {
	if s.Language == "" {
		return plan.Servers{}
	}
	return plan.List([]plan.Server{s})
}

// TestLabelWithoutProbes shows that the schema accepts the label of an image that was built before labels had probes.
func TestLabelWithoutProbes(t *testing.T) {
	t.Parallel()
	schema, err := labeltest.ReadSchema(repository)
	if err != nil {
		t.Fatal(err)
	}
	old := schema["examples"].([]any)[0].(labeltest.Object)
	delete(old, "probes")
	for _, server := range old["servers"].([]any) {
		delete(server.(labeltest.Object), "probes")
	}
	text, err := json.Marshal(old)
	if err != nil {
		t.Fatal(err)
	}
	if err := labeltest.Check(repository, string(text)); err != nil {
		t.Error(err)
	}
}

// TestUnknownKeysOfTheLabel shows that a reader with this schema accepts the labels of later releases, and that the
// check of this repository's own labels does not.
func TestUnknownKeysOfTheLabel(t *testing.T) {
	t.Parallel()
	exec := execprobe.Probe{Command: []string{"/probe"}, TimeoutSeconds: 3}
	l, err := imageLabel(exec, nil, program{
		version: "v1.0.0", source: "bundled", variant: "lean", sha256: strings.Repeat("0", 64),
	}, nil, plan.Servers{})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []struct{ old, added string }{
		{`"schema":1`, `"schema":1,"new":true`}, {`"timeoutSeconds":3`, `"timeoutSeconds":3,"new":true`},
	} {
		changed := strings.Replace(l.Value, change.old, change.added, 1)
		schema, err := labeltest.ReadSchema(repository)
		if err != nil {
			t.Fatal(err)
		}
		if err := labeltest.Validate(schema, changed); err != nil {
			t.Errorf("a reader does not ignore a key: %v", err)
		}
		if err := labeltest.Check(repository, changed); err == nil || !strings.Contains(err.Error(), "new") {
			t.Errorf("the key is not reported: %v", err)
		}
	}
	for _, change := range [][2]string{
		{`"schema":1`, `"schema":2`},
		{`"path":"/probe"`, `"path":"probe"`},
		{`"exec"`, `"exe"`},
		{`"timeoutSeconds":3`, `"timeoutSeconds":0`},
		{`"source":"bundled"`, `"source":"found"`},
	} {
		changed := strings.Replace(l.Value, change[0], change[1], 1)
		schema, err := labeltest.ReadSchema(repository)
		if err != nil {
			t.Fatal(err)
		}
		if changed == l.Value || labeltest.Validate(schema, changed) == nil {
			t.Errorf("%s in place of %s is not refused", change[1], change[0])
		}
	}
}
