package githubassets

import (
	"fmt"

	"github.com/BurntSushi/toml"
	"github.com/buildpacks/libcnb/v2"

	"github.com/grpc-cnb/health-probe/internal/plan"
)

// Requirements returns the build plan's entries for the assets that an app asks for, without secrets. A wrong
// project.toml of the app is an error.
func Requirements(appDir string) ([]plan.Requirement, error) {
	requests, err := readRequests(appDir)
	if err != nil {
		return nil, err
	}
	var requirements []plan.Requirement
	for _, request := range requests {
		metadata := map[string]any{}
		text, err := toml.Marshal(request)
		if err == nil {
			err = toml.Unmarshal(text, &metadata)
		}
		if err != nil {
			return nil, fmt.Errorf("planning the GitHub asset %q: %w", request.Asset, err)
		}
		requirements = append(requirements, plan.Requirement{
			Name: entryName, Metadata: metadata,
			Reason: fmt.Sprintf("GitHub asset wanted: %s of %s", request.Asset, request.Repo),
		})
	}
	return requirements, nil
}

// RequestsFromPlan returns the requests in the entries of the build plan. Any buildpack may have written the entries.
func RequestsFromPlan(buildpackPlan libcnb.BuildpackPlan) ([]Request, error) {
	var requests []Request
	for _, entry := range buildpackPlan.Entries {
		if entry.Name != entryName {
			continue
		}
		text, err := toml.Marshal(entry.Metadata)
		if err != nil {
			return nil, fmt.Errorf("reading the plan entry %q: %w", entryName, err)
		}
		var request Request
		if err := toml.Unmarshal(text, &request); err != nil {
			return nil, fmt.Errorf("reading the plan entry %q: %w", entryName, err)
		}
		if err := request.check(); err != nil {
			return nil, err
		}
		if request.Layer != variablesLayer {
			request.Layer = layerOf(request.Repo)
		}
		requests = append(requests, request)
	}
	return requests, nil
}
