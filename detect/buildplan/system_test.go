package buildplan

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/buildpacks/libcnb/v2"
)

func TestOptionalInSystem(t *testing.T) {
	t.Parallel()
	const id = "grpc-cnb/health-probe"
	for name, test := range map[string]struct {
		content string
		want    bool
	}{
		"post": {"[[system.post.buildpacks]]\nid = \"a/b\"\n" +
			"[[system.post.buildpacks]]\nid = \"" + id + "\"\noptional = true\n", true},
		"pre":       {"[[system.pre.buildpacks]]\nid = \"" + id + "\"\nversion = \"1.0.0\"\noptional = true\n", true},
		"required":  {"[[system.post.buildpacks]]\nid = \"" + id + "\"\n", false},
		"other":     {"[[system.post.buildpacks]]\nid = \"a/b\"\noptional = true\n", false},
		"empty":     {"", false},
		"malformed": {"[[system", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "system.toml")
			if isOptionalInSystem(file, id) {
				t.Error("a file that is not there has the buildpack")
			}
			if err := os.WriteFile(file, []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := isOptionalInSystem(file, id); got != test.want {
				t.Errorf("optional is %t, want %t", got, test.want)
			}
		})
	}
}

// The plan that asks for nothing is the last choice, and there only if the group would fail otherwise.
func TestPlanForNothing(t *testing.T) {
	t.Parallel()
	provided := libcnb.BuildPlan{Provides: []libcnb.BuildPlanProvide{{Name: "probe"}}}
	required := provided
	required.Requires = []libcnb.BuildPlanRequire{{Name: "probe"}}
	for name, test := range map[string]struct{ plans, want []libcnb.BuildPlan }{
		"nothing found":        {[]libcnb.BuildPlan{provided}, []libcnb.BuildPlan{provided, {}}},
		"nothing, with Go":     {[]libcnb.BuildPlan{required, provided}, []libcnb.BuildPlan{required, provided, {}}},
		"found":                {[]libcnb.BuildPlan{required}, []libcnb.BuildPlan{required}},
		"nothing, with assets": {[]libcnb.BuildPlan{provided, required}, []libcnb.BuildPlan{provided, required}},
	} {
		if got := withNothing(test.plans); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: the plans are %+v, want %+v", name, got, test.want)
		}
	}
}
