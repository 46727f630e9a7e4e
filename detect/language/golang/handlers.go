package golang

import (
	"path"
	"slices"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// secureHandler gives a server the security of the calls that serve HTTP over TLS in its folder, or where it is handed
// requests, if there are some. It is not known if these differ, or if such calls are elsewhere in the app: without h2c
// a server of net/http has HTTP/2 over TLS alone.
func (f *flow) secureHandler(server *finding.Site, handed []*finding.Site) {
	folders := map[string]bool{path.Dir(server.Path): true}
	for _, at := range handed {
		folders[path.Dir(at.Path)] = true
	}
	isSaid := false
	for folder := range folders {
		isSaid = isSaid || f.serveHTTP[folder]
	}
	for _, at := range f.overTLS {
		if !folders[path.Dir(at.Path)] || f.isOfOtherServer(at, handed) {
			continue
		}
		says, isKnown := f.secured[server]
		if says.Place = f.secured[at].Place; isKnown && says != f.secured[at] {
			f.secured[server] = plan.Security{Place: at.Place}
			return
		}
		f.secured[server] = f.secured[at]
	}
	if _, isKnown := f.secured[server]; !isKnown && !isSaid && len(f.overTLS) > 0 {
		f.secured[server] = plan.Security{Place: handed[0].Place}
	}
}

// isOfOtherServer reports whether a call that serves TLS is one of another server of net/http than those that hand
// requests on: it is known where both are made.
func (f *flow) isOfOtherServer(overTLS *finding.Site, handed []*finding.Site) bool {
	by := f.overTLSOf[overTLS]
	isKnown := false
	for _, at := range handed {
		if slices.Contains(by, at.Place) {
			return false
		}
		isKnown = isKnown || f.handledIn[at.Place] != nil
	}
	return isKnown && len(by) > 0
}

// foldersOfH2C returns the folders in which a server of net/http is set up for HTTP/2 without TLS.
func foldersOfH2C(files []analyzer.File[Extra]) map[string]bool {
	folders := map[string]bool{}
	for _, file := range files {
		for f := range finding.All[http2Served](file.Findings) {
			folders[path.Dir(file.Path)] = folders[path.Dir(file.Path)] || f.h2c
		}
		if finding.Has[unencryptedHTTP2](file.Findings) {
			folders[path.Dir(file.Path)] = true
		}
	}
	return folders
}
