package cluster

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// tekton is Tekton Pipelines, installed once, without what sends events and what fetches tasks from elsewhere.
var tekton = sync.OnceValue(func() error {
	ctx := context.Background()
	return platform{
		namespace: "tekton-pipelines",
		images: map[string]string{
			"tekton-controller": "/ko-app/controller", "tekton-webhook": "/ko-app/webhook",
			"tekton-entrypoint": "/ko-app/entrypoint",
		},
		manifest: func() (string, error) {
			text, err := manifests(ctx, "tekton-controller",
				[]string{"config/100-namespace/*.yaml", "config/300-crds/*.yaml", "config/*.yaml"},
				"events.yaml", "webhook-hpa.yaml")
			return strings.ReplaceAll(text, "ko://github.com/tektoncd/pipeline/cmd/", Registry+"/tekton-"), err
		},
	}.install(ctx)
})

// TestTekton builds the sample app by the Task and the TaskRun of the example, from a volume that has its source.
func TestTekton(t *testing.T) {
	t.Parallel()
	needPublished(t)
	if err := tekton(); err != nil {
		t.Fatal(err)
	}
	s := newSpace(t)
	s.logPods("tekton.dev/taskRun")
	s.addSource("my-app-source")
	text := platformExample(t, "tekton.yaml")
	text = strings.ReplaceAll(text, "registry.example.com/builders/", inCluster(""))
	text = strings.ReplaceAll(text, "registry.example.com/", inCluster(s.name)+"/")
	resources := decodeAll(t, strings.NewReader(text))
	for _, resource := range resources {
		if spec, ok := resource["spec"].(object); ok && resource["kind"] == "TaskRun" {
			// Pods cannot pull the builder's run image by the name that it has in the builder.
			spec["params"] = append(spec["params"].([]any), object{"name": "RUN_IMAGE", "value": inCluster(runImage)})
		}
	}
	s.apply(resources...)
	run := s.untilBuilt("/apis/tekton.dev/v1/namespaces/"+s.name+"/taskruns/my-app", "done", func(b built) bool {
		return b.is("Succeeded", "True") || b.is("Succeeded", "False")
	})
	if !run.is("Succeeded", "True") {
		t.Fatalf("the run failed: %+v", run.Status)
	}
	s.wantProbed("tekton", inCluster(s.name)+"/my-app")
}

// addSource makes a claim of a volume with the sample app, where the builder's user may write.
func (s space) addSource(claim string) {
	s.t.Helper()
	app, err := fixture.StageSample(s.t.Context(), nil)
	if err == nil {
		err = filepath.WalkDir(app, func(path string, _ os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Chown(path, 1000, 1000)
		})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	size := object{"storage": "1Gi"}
	modes := []string{"ReadWriteOnce"}
	s.t.Cleanup(func() {
		if err := cluster.Delete(context.Background(), "/api/v1/persistentvolumes/"+s.name); err != nil {
			s.t.Error(err)
		}
	})
	s.apply(
		object{
			"apiVersion": "v1", "kind": "PersistentVolume", "metadata": object{"name": s.name},
			"spec": object{
				"capacity": size, "accessModes": modes, "hostPath": object{"path": app}, "storageClassName": "",
				"claimRef": object{"namespace": s.name, "name": claim},
			},
		},
		object{
			"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": object{"name": claim},
			"spec": object{
				"accessModes": modes, "storageClassName": "", "volumeName": s.name,
				"resources": object{"requests": size},
			},
		},
	)
}
