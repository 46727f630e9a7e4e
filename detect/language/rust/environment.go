package rust

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

// withDefaults returns the files, in which sources declare the defaults that they have for variables of a file .env as
// that file does. What differs is not known then: some buildpacks leave all but the programs out of the image, with
// which the default in the code holds, and others do not. Programs look for the file from the folder of the app, in
// which the image starts them: one in a folder below has a say only where a program that starts there would differ.
func withDefaults(files []analyzer.File[extra]) []analyzer.File[extra] {
	names := map[string]string{} // by variable
	for _, f := range files {
		for _, d := range f.Declares {
			if path.Base(f.Path) == analyzer.EnvironmentFile {
				names[d.Variable] = d.Name
			}
		}
	}
	withDefault := map[string][]string{} // files, by the name of the variable
	for i, f := range files {
		for _, v := range valuesIn(f) {
			if name := names[v.Variable]; name != "" && v.Certainty == address.Default &&
				path.Base(f.Path) != analyzer.EnvironmentFile {
				withDefault[name] = append(withDefault[name], f.Path)
				files[i].Declares = append(files[i].Declares, address.Declaration{Name: name, Value: address.Value{
					Address: v.Address,
				}})
			}
		}
	}
	for i, f := range files {
		if path.Base(f.Path) == analyzer.EnvironmentFile && f.Path != analyzer.EnvironmentFile {
			files[i].Declares = slices.DeleteFunc(slices.Clone(f.Declares), func(d address.Declaration) bool {
				return !slices.ContainsFunc(withDefault[d.Name], func(file string) bool {
					return tree.IsWithin(file, path.Dir(f.Path))
				})
			})
		}
	}
	return files
}

// shareEnvironment gives all crates the file .env of the app's folder.
func shareEnvironment(crates []*crate) {
	for _, c := range crates[1:] {
		for _, f := range crates[0].Files {
			if f.Path == analyzer.EnvironmentFile {
				c.Files = append(c.Files, f)
			}
		}
	}
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
