package buildplan

import (
	"slices"

	"github.com/BurntSushi/toml"
	"github.com/buildpacks/libcnb/v2"
)

// systemFile is where a builder lists its system buildpacks, which the lifecycle adds to each group of the order
// (platform spec, system.toml).
const systemFile = "/cnb/system.toml"

// isOptionalInSystem reports whether a builder's list of system buildpacks has the buildpack with an ID as optional.
func isOptionalInSystem(file, id string) bool {
	type list struct {
		Buildpacks []struct {
			ID       string `toml:"id"`
			Optional bool   `toml:"optional"`
		} `toml:"buildpacks"`
	}
	var content struct {
		System struct {
			Pre  list `toml:"pre"`
			Post list `toml:"post"`
		} `toml:"system"`
	}
	// Most builders have no such file. The lifecycle has refused an unreadable file.
	if _, err := toml.DecodeFile(file, &content); err != nil {
		return false
	}
	for _, buildpack := range slices.Concat(content.System.Pre.Buildpacks, content.System.Post.Buildpacks) {
		if buildpack.ID == id {
			return buildpack.Optional
		}
	}
	return false
}

// withNothing adds a plan without requirements, if the last plan has none. The lifecycle (0.21.0 to 0.21.17,
// phase/hermetic_factory.go) does not read that a system buildpack is optional. Without such a plan the group would
// fail, because nobody requires the buildpack's provided entries.
func withNothing(plans []libcnb.BuildPlan) []libcnb.BuildPlan {
	if len(plans[len(plans)-1].Requires) > 0 {
		return plans
	}
	return append(plans, libcnb.BuildPlan{})
}
