package jvm

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// conditional are settings that are in force in some profiles only.
type conditional struct {
	settings
	// profiles are those of which one has to be active, none if the condition is another one.
	profiles []string
}

var (
	// profileFile is a settings file of one profile.
	profileFile = source.Exactly(`application-(?P<profile>[\w-]+)\.(?:properties|ya?ml|toml|json|groovy)`)
	// testProfile is a profile of tests by its name, which is in force in no image.
	testProfile = source.Exactly(`(?:[\w-]+-)?(?:(?:unit|integration|int)?-?tests?|it|e2e)`)
	// profileCondition is a key that puts the document that it stands in under a condition: the settings are in force
	// in some profiles or on some platforms only. The key has one name since Spring Boot 2.4 and had another before.
	// Its value may be a list.
	profileCondition = regexp.MustCompile(
		`^spring\.(?:config\.activate\.on(?:profile|cloudplatform)|profiles)(?:\[|$)`)
	// activeProfiles is a key that names profiles which are in force if nothing else is said when the app runs.
	activeProfiles = regexp.MustCompile(`^spring\.profiles\.(?:active|include)(?:\[|$)`)
	profileName    = source.Exactly(`[\w-]+`)
)

// isTestProfile reports whether a file has the settings of a profile of tests.
func isTestProfile(name string) bool {
	m := profileFile.FindStringSubmatch(name)
	return m != nil && testProfile.MatchString(m[1])
}

// addDocument adds the settings of one document of a file.
func (s *fileSettings) addDocument(document settings) {
	c := conditional{settings: document}
	if m := profileFile.FindStringSubmatch(path.Base(s.name)); m != nil {
		c.profiles = []string{m[1]}
	}
	isConditional := c.profiles != nil
	for key, value := range document.all() {
		if profileCondition.MatchString(key) {
			isConditional = true
			names, _ := profilesIn(value.text)
			c.profiles = append(c.profiles, names...)
		}
	}
	switch {
	case !isConditional:
		s.always.merge(document)
	case len(c.profiles) == 0 || !slices.ContainsFunc(c.profiles, testProfile.MatchString):
		s.inProfile = append(s.inProfile, c)
	}
}

// profilesIn returns the names in a list of profiles. ok is false if not all of them are known.
func profilesIn(list string) (names []string, ok bool) {
	for name := range strings.SplitSeq(list, ",") {
		if name = strings.TrimSpace(name); !profileName.MatchString(name) {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}

// configure takes the settings of all files: what is in force in each profile, then what is in force in those that are
// active if nothing else is said when the app runs. If it is not known which these are, it is not known either what
// any profile says.
func (b *build) configure(files []fileSettings) {
	starter := starterOf(b.artifacts)
	files = slices.DeleteFunc(files, func(f fileSettings) bool {
		return starter != "" && starter != micronaut && micronautSettings.MatchString(path.Base(f.name))
	})
	precedence := func(f fileSettings) int { return slices.Index(settingsFiles, path.Base(f.name)) }
	slices.SortStableFunc(files, func(f, g fileSettings) int {
		return cmp.Or(plan.CompareBool(g.isNeeded, f.isNeeded), precedence(g)-precedence(f))
	})
	var conditionals []conditional
	for _, f := range files {
		b.settings.merge(f.always)
		conditionals = append(conditionals, f.inProfile...)
	}
	active, areKnown := b.activeProfiles()
	for _, name := range active {
		for _, c := range conditionals {
			if slices.Contains(c.profiles, name) {
				b.settings.merge(c.settings)
			}
		}
	}
	for _, c := range conditionals {
		b.profileSettings.merge(c.settings)
	}
	for key := range b.profileSettings.values {
		if !areKnown {
			delete(b.settings.values, key)
		}
	}
}

// activeProfiles returns the profiles that the settings make active, and that of Quarkus in production. areKnown is
// false if settings name further ones in a way that is not known, such as by a placeholder of Maven.
func (b *build) activeProfiles() (active []string, areKnown bool) {
	areKnown = true
	if b.has(quarkusServer) {
		active = []string{"prod"}
	}
	for key, value := range b.settings.all() {
		if activeProfiles.MatchString(key) {
			names, ok := profilesIn(value.text)
			active, areKnown = append(active, names...), areKnown && ok
		}
	}
	return active, areKnown
}
