package jvm

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
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
	profileCondition = lazyregexp.New(
		`^spring\.(?:config\.activate\.on(?:profile|cloudplatform)|profiles)(?:\[|$)`)
	// activeProfiles is a key that names profiles which are in force if nothing else is said when the app runs.
	activeProfiles = lazyregexp.New(`^spring\.profiles\.(?:active|include)(?:\[|$)`)
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
		b.settings.merge(b.withIncluded(f, 0))
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
	if b.isPlaced() {
		b.profileSettings.merge(b.settings)
		b.settings = settings{unread: true}
	}
}

// activeProfiles returns the profiles that the settings make active, and that of Quarkus in production. areKnown is
// false if settings name further ones in a way that is not known, such as by a placeholder of Maven.
func (b *build) activeProfiles() (active []string, areKnown bool) {
	if b.has(quarkusServer) {
		active = []string{"prod"}
	}
	given, isGiven, ok := b.givenProfiles()
	active, areKnown = append(active, given...), ok
	for key, value := range b.settings.all() {
		if activeProfiles.MatchString(key) && !(isGiven && replacedProfiles.MatchString(key)) {
			names, ok := profilesIn(value.text)
			active, areKnown = append(active, names...), areKnown && ok
		}
	}
	return active, areKnown
}

// profileGivers give the active profiles when the process starts, of Spring, Micronaut and Quarkus, and placeGivers the
// places of the settings.
var (
	profileGivers = []string{
		"--spring.profiles.active", "--Dspring.profiles.active", "$SPRING_PROFILES_ACTIVE",
		"--Dmicronaut.environments", "$MICRONAUT_ENVIRONMENTS", "--Dquarkus.profile", "$QUARKUS_PROFILE",
	}
	placeGivers = lazyregexp.New(`^(?i:(?:--|--D|\$)(?:(?:spring|micronaut|quarkus|smallrye)[._]config[._]\w*` +
		`(?:location|locations|files|import|name)))$`)
	// replacedProfiles are the keys whose profiles are not active if a process gives others.
	replacedProfiles = lazyregexp.New(`^spring\.profiles\.active`)
)

// givenProfiles returns the profiles that processes make active, and whether they give any. ok is false if they are not
// known.
func (b *build) givenProfiles() (active []string, isGiven, ok bool) {
	ok = true
	for _, giver := range profileGivers {
		if v, is := b.givenBy(giver); is {
			names, areKnown := profilesIn(v)
			active, isGiven, ok = append(active, names...), true, ok && areKnown
		}
	}
	return active, isGiven, ok
}

// givenBy returns what processes give a flag or an environment variable, "?" if that is not known.
func (b *build) givenBy(giver string) (text string, ok bool) {
	v, ok := b.processes.Flag(strings.TrimPrefix(giver, "--"))
	if variable, is := strings.CutPrefix(giver, "$"); is {
		v, ok = b.processes.Variable(variable)
	}
	if v.IsUnknown || v.Variable != "" {
		return "?", ok
	}
	return v.Text, ok
}

// isPlaced reports whether processes say where the settings are, so that those of the app may not hold.
func (b *build) isPlaced() bool {
	var givers []string
	for _, flag := range b.processes.Flags() {
		givers = append(givers, "--"+flag)
	}
	for _, variable := range b.processes.Variables() {
		givers = append(givers, "$"+variable)
	}
	return slices.ContainsFunc(givers, placeGivers.MatchString)
}
