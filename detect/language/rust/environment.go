package rust

import (
	"path"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
)

// withDefaults returns the files, in which sources declare the defaults that they have for variables of a file .env as
// that file does. What differs is not known then: some buildpacks leave all but the programs out of the image, with
// which the default in the code holds, and others do not.
func withDefaults(files []analyzer.File[extra]) []analyzer.File[extra] {
	names := map[string]string{} // by variable
	for _, f := range files {
		for _, d := range f.Declares {
			if path.Base(f.Path) == analyzer.EnvironmentFile {
				names[d.Variable] = d.Name
			}
		}
	}
	for i, f := range files {
		for _, v := range valuesIn(f) {
			if name := names[v.Variable]; name != "" && v.Certainty == address.Default {
				files[i].Declares = append(files[i].Declares, address.Declaration{Name: name, Value: address.Value{
					Address: v.Address,
				}})
			}
		}
	}
	return files
}

// valuesIn returns the values that a file declares, and those of its listeners.
func valuesIn(f analyzer.File[extra]) []address.Value {
	var all []address.Value
	for _, d := range f.Declares {
		all = append(all, d.Value)
	}
	for _, of := range f.Findings {
		switch l := of.(type) {
		case configuredListener:
			all = append(all, l.Address)
		case finding.Listener:
			all = append(all, l.Address)
		}
	}
	return all
}
