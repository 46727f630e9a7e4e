package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"testing"
)

// deployment is a Deployment in a namespace of a test, with a Service of the same name.
type deployment struct {
	space
	name string
}

// viaExec, viaBridge and viaLaunch are the examples of a Deployment with exec probes, with native probes of the bridge
// as a sidecar, and of the bridge in the app's container.
const viaExec, viaBridge, viaLaunch = "deployment.yaml", "bridge-deployment.yaml", "launch-deployment.yaml"

// deployed is what examples/kubernetes/deployment.yaml has, with what a test changes in the Deployment.
func deployed(t *testing.T, changes ...func(deployment object)) []object {
	t.Helper()
	return deployedAs(t, viaExec, changes...)
}

// deployedAs is what a file of examples/kubernetes has, with what a test changes in the Deployment.
func deployedAs(t *testing.T, file string, changes ...func(deployment object)) []object {
	t.Helper()
	resources := examples(t, file)
	changeAll(t, file, resources[0], changes)
	return resources
}

// asDeployment makes a Deployment of three and a Service of a pod.
func asDeployment(pod object) []object {
	name := pod["metadata"].(object)["name"].(string)
	labels := object{"app": name}
	return []object{
		{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": name},
			"spec": object{
				"replicas": 3, "selector": object{"matchLabels": labels},
				"template": object{"metadata": object{"labels": labels}, "spec": pod["spec"]},
			},
		},
		{
			"apiVersion": "v1", "kind": "Service", "metadata": object{"name": name},
			"spec": object{"selector": labels, "ports": []object{{"port": 5000}}},
		},
	}
}

// template is the template of a Deployment's pods.
func template(deployment object) object {
	return deployment["spec"].(object)["template"].(object)
}

// replicas changes how many pods a Deployment has.
func replicas(n int) func(object) {
	return func(deployment object) { deployment["spec"].(object)["replicas"] = n }
}

// deploy applies a Deployment and its Service and waits for the rollout to end.
func (s space) deploy(resources []object) deployment {
	s.t.Helper()
	s.apply(resources...)
	d := deployment{s, resources[0]["metadata"].(object)["name"].(string)}
	d.untilRolledOut()
	return d
}

// untilRolledOut waits until all pods are those of the last change, and ready.
func (d deployment) untilRolledOut() {
	d.t.Helper()
	d.kubectl("rollout", "status", "deployment/"+d.name, "--timeout="+patience.String())
}

// address is that of the Service, as no name is known in the cluster.
func (d deployment) address() string {
	d.t.Helper()
	var service struct{ Spec struct{ ClusterIP string } }
	if err := d.read(d.t.Context(), "services/"+d.name, &service); err != nil {
		d.t.Fatal(err)
	}
	return service.Spec.ClusterIP + ":5000"
}

// pods are the pods of the Deployment that are not being deleted.
func (d deployment) pods(ctx context.Context) ([]Pod, error) {
	var list struct{ Items []Pod }
	err := d.read(ctx, "pods?labelSelector="+url.QueryEscape("app="+d.name), &list)
	return slices.DeleteFunc(list.Items, func(p Pod) bool { return p.Metadata.DeletionTimestamp != "" }), err
}

// running is each of the pods.
func (d deployment) running() (all []running) {
	d.t.Helper()
	pods, err := d.pods(d.t.Context())
	if err != nil || len(pods) == 0 {
		d.t.Fatalf("Deployment %q has pods %v (error: %v)", d.name, pods, err)
	}
	for _, pod := range pods {
		all = append(all, running{d.space, pod.Metadata.Name})
	}
	return all
}

// endpoints are the pods of the Service by their names, and whether they get its traffic.
func (d deployment) endpoints(ctx context.Context) (map[string]bool, error) {
	var list struct {
		Items []struct {
			Endpoints []struct {
				Conditions struct{ Ready bool }
				TargetRef  struct{ Name string }
			}
		}
	}
	err := cluster.Read(ctx, "/apis/discovery.k8s.io/v1/namespaces/"+d.space.name+"/endpointslices?labelSelector="+
		url.QueryEscape("kubernetes.io/service-name="+d.name), &list)
	ready := map[string]bool{}
	for _, slice := range list.Items {
		for _, endpoint := range slice.Endpoints {
			ready[endpoint.TargetRef.Name] = endpoint.Conditions.Ready
		}
	}
	return ready, err
}

// untilEndpoints waits until the Service sends traffic to all pods but some.
func (d deployment) untilEndpoints(without ...string) {
	d.t.Helper()
	want := map[string]bool{}
	for _, pod := range d.running() {
		want[pod.name] = !slices.Contains(without, pod.name)
	}
	poll(d.t, fmt.Sprintf("Service %q to send traffic as %v says", d.name, want),
		func(ctx context.Context) (bool, error) {
			got, err := d.endpoints(ctx)
			return err == nil && maps.Equal(got, want), errors.Join(err, fmt.Errorf("it is %v", got))
		})
}

// restarts is how often containers of the pods were restarted.
func (d deployment) restarts() (n int) {
	d.t.Helper()
	pods, err := d.pods(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	for _, pod := range pods {
		n += pod.App().RestartCount + pod.Sidecar().RestartCount
	}
	return n
}
