package dotnet

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Settings are bound to the properties of classes: configuration.GetSection("Grpc").Get<GrpcOptions>(). What the
// settings say goes before the default of a property (Microsoft.Extensions.Configuration.Binder).

var (
	// boundSection says which section of the settings a class is bound to.
	boundSection = lazyregexp.New(
		`\bGetSection\s*\(\s*"(?P<section>[ ]+)"\s*\)\s*\.\s*Get\s*<\s*(?:\w+\.)*(?P<class>\w+)\s*>|` +
			`\bConfigure\s*<\s*(?:\w+\.)*(?P<class1>\w+)\s*>\s*\([^;"]*\bGetSection\s*\(\s*"(?P<section1>[ ]+)"`)
	// boundOptions says so with the builder of options.
	boundOptions = lazyregexp.New(
		`\bAddOptions(?:WithValidateOnStart)?\s*<\s*(?:\w+\.)*(?P<class>\w+)\s*>\s*\([^;{}]*?` +
			`\b(?:GetSection|BindConfiguration)\s*\(\s*"(?P<section>[ ]+)"`)
	// filled are calls that fill an object of a class from what is not seen: a text, or a section in a variable.
	filled = lazyregexp.New(`\bDeserialize(?:Object)?(?:Async)?\s*<\s*(?:\w+\.)*(?P<class>\w+)\??\s*>\s*\(|` +
		`[^")\s]\s*\.\s*Get\s*<\s*(?:\w+\.)*(?P<class>\w+)\s*>\s*\(`)
	// boundRoot binds all of the settings.
	boundRoot = lazyregexp.New(`\bConfiguration\s*\.\s*Get\s*<\s*(?:\w+\.)*(?P<class>\w+)\s*>\s*\(|` +
		`\bConfiguration\s*\.\s*Bind\s*\(\s*(?P<object>\w+)\s*\)`)
	filledObject = lazyregexp.New(`\.\s*(?:Bind|PopulateObject)\s*\((?:[^(){};]*,\s*)?(?P<object>\w+)\s*\)`)
	classHead    = lazyregexp.New(`\b(?:class|record)\s+(?P<name>\w+)`)
	// classOfSettings takes the name of the section out of that of its class, if that has a usual ending.
	classOfSettings = lazyregexp.New(`^(.+?)(?:options|settings|config|configuration|section)$`)
)

// sectionsIn returns the sections that a source binds, by their classes, all in lower case.
func sectionsIn(t *source.Text) map[string]string {
	var sections map[string]string
	bind := func(class, section string) {
		if sections == nil {
			sections = map[string]string{}
		}
		sections[strings.ToLower(class)] = strings.ToLower(section)
	}
	for _, m := range t.FindAll(boundSection, maxConstants) {
		for _, suffix := range []string{"", "1"} {
			class, ok := t.Group(boundSection, m, "class"+suffix)
			if section, _ := t.Group(boundSection, m, "section"+suffix); ok {
				bind(class, section)
			}
		}
	}
	for _, m := range t.FindAll(boundOptions, maxConstants) {
		class, _ := t.Group(boundOptions, m, "class")
		section, _ := t.Group(boundOptions, m, "section")
		bind(class, section)
	}
	g := given{Names: &address.Names{Text: t}}
	for _, m := range t.FindAll(boundRoot, maxAssignments) {
		class, _ := t.Group(boundRoot, m, "class")
		if object, ok := t.Group(boundRoot, m, "object"); ok {
			class = g.classOf(object)
		}
		if class != "" {
			bind(class, "")
		}
	}
	return sections
}

// filledIn returns the classes of objects that a source fills from what is not seen, in lower case.
func filledIn(t *source.Text) []string {
	var all []string
	for _, m := range t.FindAll(filled, maxConstants) {
		class, _ := t.Group(filled, m, "class")
		all = append(all, strings.ToLower(class))
	}
	g := given{Names: &address.Names{Text: t}}
	for _, m := range t.FindAll(filledObject, maxAssignments) {
		object, _ := t.Group(filledObject, m, "object")
		if class := g.classOf(object); class != "" {
			all = append(all, strings.ToLower(class))
		}
	}
	return all
}

// fillProperties declares that nothing is known of the properties of a class which objects are filled with.
func fillProperties(files []analyzer.File[extra], classes, sections map[string][]string) {
	for i := range files {
		for _, class := range files[i].Extra.filled {
			for property, in := range classes {
				if len(sections[class]) == 0 && slices.Contains(in, class) {
					d := address.Declaration{Name: boundName(class, property)}
					files[i].Declares = append(files[i].Declares, d)
				}
			}
		}
	}
}

// classes are the declarations of classes in a source.
type classes [][]int

func classesIn(t *source.Text) classes { return t.FindAll(classHead, maxMethods) }

// around returns the name of the class that is declared last before an offset.
func (all classes) around(t *source.Text, at int) string {
	name := ""
	for _, m := range all {
		if m[0] < at {
			name, _ = t.Group(classHead, m, "name")
		}
	}
	return name
}

// boundName is the name by which settings declare the property of a class.
func boundName(class, property string) string { return strings.ToLower(".{" + class + "}." + property) }

// classOf returns the class and the property of a [boundName].
func classOf(name string) (class, property string, ok bool) {
	if name, ok = strings.CutPrefix(name, ".{"); !ok {
		return "", "", false
	}
	return strings.Cut(name, "}.")
}

// bindSettings declares the properties of classes that settings are bound to.
func bindSettings(files []analyzer.File[extra]) {
	sections, classes := map[string][]string{}, map[string][]string{} // those of a class, and those with a property
	for _, f := range files {
		for class, section := range f.Extra.sections {
			sections[class] = append(sections[class], section)
		}
		for _, d := range f.Declares {
			for _, n := range d.Names {
				class, property, ok := classOf(n.Path)
				if ok && len(classes[property]) < address.MaxListeners && !slices.Contains(classes[property], class) {
					classes[property] = append(classes[property], class)
				}
			}
		}
	}
	fillProperties(files, classes, sections)
	for i := range files {
		for _, d := range slices.Clone(files[i].Declares) {
			key, isKey := strings.CutPrefix(d.Name, ".[")
			if path.Ext(files[i].Path) != ".json" || !isKey {
				continue
			}
			section, property := cutKey(strings.TrimSuffix(key, "]"))
			for _, class := range classes[property] {
				if isBound(class, section, sections[class]) {
					d.Name = boundName(class, property)
					d.Givers = settingGivers(section + ":" + property)
					files[i].Declares = append(files[i].Declares, d)
				}
			}
		}
	}
}

// cutKey returns the section of a setting, and its name there.
func cutKey(key string) (section, name string) {
	last := strings.LastIndexByte(key, ':')
	return key[:max(last, 0)], key[last+1:]
}

// isBound reports whether a section is bound to a class: it is one of those that the app binds, or, if the app says
// none, it has the name of the class.
func isBound(class, section string, sections []string) bool {
	if len(sections) > 0 {
		return slices.Contains(sections, section)
	}
	_, name := cutKey(section)
	m := classOfSettings.FindStringSubmatch(class)
	return name != "" && (name == class || m != nil && name == m[1])
}

// replaceSettings leaves out the settings that others replace.
func replaceSettings(files []analyzer.File[extra]) {
	last := map[string]int{}
	name := func(f analyzer.File[extra], d address.Declaration) string {
		return cmp.Or(f.Extra.addedTo, path.Dir(f.Path)) + d.Name
	}
	for _, f := range files {
		for _, d := range f.Declares {
			last[name(f, d)] = max(last[name(f, d)], precedence(f.Path, f.Extra.addedTo))
		}
	}
	for i, f := range files {
		if path.Ext(f.Path) == ".json" {
			replaced := func(d address.Declaration) bool {
				return precedence(f.Path, f.Extra.addedTo) < last[name(f, d)]
			}
			files[i].Declares = slices.DeleteFunc(f.Declares, replaced)
		}
	}
}
