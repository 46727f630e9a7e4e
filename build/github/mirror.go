package github

import (
	"fmt"
	"net/url"
	"strings"
)

// Mirrors are the mirrors of the build, by replaced host. The mirror with the key "default" replaces all other hosts. A
// mirror is an address, or mirror=ADDRESS,skip-path=PATH, as in every Paketo buildpack; {originalHost} in the address
// stands for the host (paketo.io/docs, dependency mirrors).
type Mirrors map[string]string

// rewrite returns the address to download from in place of the original, and whether the address is a mirror's.
func (m Mirrors) rewrite(original *url.URL) (*url.URL, bool, error) {
	value := m[strings.ToLower(original.Hostname())]
	if value == "" {
		value = m["default"]
	}
	if value == "" {
		return original, false, nil
	}
	address, skip := splitMirror(value)
	mirror, err := url.Parse(address)
	if err != nil || (mirror.Scheme != "https" || mirror.Host == "") && mirror.Scheme != "file" {
		return nil, false, fmt.Errorf("reading the dependency mirror for %q: it must be an address that begins "+
			"with https:// or file://", original.Hostname())
	}
	mirrored := *original
	mirrored.Scheme, mirrored.User, mirrored.Host = mirror.Scheme, mirror.User, mirror.Host
	mirrored.Path = strings.Replace(mirror.Path, "{originalHost}", original.Hostname(),
		1) + strings.Replace(original.Path, skip, "", 1)
	return &mirrored, true, nil
}

func splitMirror(value string) (address, skip string) {
	address = value
	for part := range strings.SplitSeq(value, ",") {
		switch key, argument, found := strings.Cut(part, "="); {
		case found && key == "mirror":
			address = argument
		case found && key == "skip-path":
			skip = argument
		case strings.HasPrefix(part, "https"), strings.HasPrefix(part, "file"):
			address = part
		}
	}
	return unescape(address), unescape(skip)
}

func unescape(text string) string {
	if plain, err := url.PathUnescape(text); err == nil {
		return plain
	}
	return text
}
