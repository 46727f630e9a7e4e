package golang

import (
	"cmp"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/golang/values"
	"github.com/grpc-cnb/health-probe/detect/source"
)

// ports are the addresses of listeners that the sources state, by the sites of the listeners.
type ports map[*finding.Site]address.Address

// of returns the address of a listener.
func (p ports) of(l listener) address.Value {
	if a, ok := p[l.Site]; ok {
		return address.Value{Address: a}
	}
	return address.Value{Address: address.Address{Place: l.Place}}
}

// resolvePorts returns the addresses of the listeners in all files, as far as the files state them.
func resolvePorts(files []analyzer.File[Extra], lookup func(importPath string) (dir string, ok bool)) ports {
	found := ports{}
	if !slices.ContainsFunc(files, hasListener) {
		return found
	}
	s, parsed := values.NewSources(lookup), map[string]*values.Source{}
	left := values.MaxParsed
	for _, f := range byRelevance(files) {
		if left -= len(f.Extra.Text); left < 0 {
			break
		}
		parsed[f.Path] = s.Parse(f.Path, f.Extra.Text)
	}
	for _, f := range files {
		s.AddSettings(f.Path, f.Extra.Settings)
	}
	for _, f := range files {
		if hasListener(f) && parsed[f.Path] != nil {
			found.add(f, s, parsed[f.Path])
		}
	}
	return found
}

func hasListener(f analyzer.File[Extra]) bool { return finding.Has[listener](f.Findings) }

// byRelevance returns the files whose text is kept: those with listeners first, then those of programs, then others.
func byRelevance(files []analyzer.File[Extra]) []analyzer.File[Extra] {
	var kept []analyzer.File[Extra]
	for _, f := range files {
		if f.Extra.Text != nil {
			kept = append(kept, f)
		}
	}
	rank := func(f analyzer.File[Extra]) int {
		switch {
		case hasListener(f):
			return 0
		case f.Extra.Main:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(kept, func(a, b analyzer.File[Extra]) int { return cmp.Compare(rank(a), rank(b)) })
	return kept
}

// add adds the addresses of the listeners in one file.
func (p ports) add(f analyzer.File[Extra], s *values.Sources, parsed *values.Source) {
	var spans []source.Span
	for l := range finding.All[listener](f.Findings) {
		spans = append(spans, l.address)
	}
	expressions := parsed.ExpressionsAt(spans)
	for l := range finding.All[listener](f.Findings) {
		if e := expressions[l.address]; e != nil {
			if a := s.Address(parsed, e); a.Certainty != address.Unknown {
				p[l.Site] = a
			}
		}
	}
}
