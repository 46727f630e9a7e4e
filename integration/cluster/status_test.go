package cluster

// Pod is what the API server says of a pod (v1.Pod of Kubernetes), as far as it is looked at here.
type Pod struct {
	Metadata struct {
		Name, Namespace   string
		UID               string
		DeletionTimestamp string
	}
	Status struct {
		Phase                      string
		PodIP                      string
		QOSClass                   string
		Conditions                 conditions
		ContainerStatuses          []Container
		InitContainerStatuses      []Container
		EphemeralContainerStatuses []Container
	}
}

// Container is the status of a container.
type Container struct {
	Name         string
	Ready        bool
	Started      bool
	RestartCount int
	State        struct{ Running, Waiting, Terminated *struct{ Reason string } }
	LastState    struct{ Terminated *struct{ Reason string } }
}

// Ready is the pod's condition of that name: whether it gets traffic.
func (p Pod) Ready() bool {
	return p.Status.Conditions.hold("Ready")
}

// App is the status of the first container; zero before there is one.
func (p Pod) App() Container { return first(p.Status.ContainerStatuses) }

// Sidecar is the status of the first init container, which may be a native sidecar; zero before there is one.
func (p Pod) Sidecar() Container { return first(p.Status.InitContainerStatuses) }

func first(containers []Container) Container {
	if len(containers) == 0 {
		return Container{}
	}
	return containers[0]
}
