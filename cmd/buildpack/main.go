// Command buildpack is the buildpack's bin/detect and bin/build: one program, whose name selects the phase (buildpack
// spec, Buildpack Interface). Begin with package detect, then build.
package main

import (
	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"
	"github.com/paketo-buildpacks/libpak/v2/utils"

	"github.com/grpc-cnb/health-probe/build"
	"github.com/grpc-cnb/health-probe/detect/buildplan"
	"github.com/grpc-cnb/health-probe/internal/bindings"
)

func main() {
	header := newHeader()
	if err := bindings.Check(); err != nil {
		header.Error(err)
	}
	// libcnb gets a logger that prints nothing: at debug level libcnb would print the platform's environment, tokens
	// included, and list the whole app folder.
	off := libcnb.WithLogger(log.PaketoLogger{})
	// libpak's own TOML writer would list the image's labels after the exec probe, which has to be the end of the log.
	quiet := libcnb.WithTOMLWriter(utils.NewTOMLWriter(utils.WithTOMLWriterLogger(log.NewDiscardLogger())))
	libpak.BuildpackMain(buildplan.Phase(header, build.Requirements), build.Phase(header),
		off, quiet, libcnb.WithExitHandler(header))
}
