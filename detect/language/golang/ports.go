package golang

import (
	"cmp"
	"slices"

	listen "github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/language/golang/values"
)

// resolvePorts states the ports of the listeners in all files. An address of a framework's server that the sources do
// not state is left out: it is in the settings, or the framework has its own.
func resolvePorts(files []analyzer.File[Extra], lookup func(importPath string) (dir string, ok bool)) {
	hasListener := func(f analyzer.File[Extra]) bool { return len(f.Extra.Addresses) > 0 }
	if !slices.ContainsFunc(files, hasListener) {
		return
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
	for i := range files {
		if f := &files[i]; hasListener(*f) && parsed[f.Path] != nil {
			resolveFile(f, s, parsed[f.Path])
		}
	}
}

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
		case len(f.Extra.Addresses) > 0:
			return 0
		case f.Extra.Main:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(kept, func(a, b analyzer.File[Extra]) int { return cmp.Compare(rank(a), rank(b)) })
	return kept
}

// resolveFile states the ports of the listeners in one file.
func resolveFile(f *analyzer.File[Extra], s *values.Sources, parsed *values.Source) {
	at := parsed.ExpressionsAt(f.Extra.Addresses)
	listeners := 0
	for i := range f.Findings {
		found := &f.Findings[i]
		if !slices.Contains(listenerKinds, found.Kind) {
			continue
		}
		span := f.Extra.Addresses[listeners]
		listeners++
		if e := at[span]; e != nil {
			if port, place := s.Port(parsed, e); port != listen.UnknownPort {
				found.Port, found.Place = port, place
			}
		}
	}
}

// listenerKinds are the kinds of findings that have an address.
var listenerKinds = []analyzer.Kind{analyzer.Listener, grpcListener, httpListener, addressGiven, mainListener}
