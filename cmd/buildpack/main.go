// Command buildpack is the buildpack's bin/detect and bin/build: one program, which phase it runs is the name it is
// called by (buildpack spec, Buildpack Interface). Begin with package detect, then build.
package main

import (
	"os"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"
	"github.com/paketo-buildpacks/libpak/v2/utils"

	"github.com/grpc-cnb/health-probe/build"
	"github.com/grpc-cnb/health-probe/detect"
)

func main() {
	logger := log.NewPaketoLogger(os.Stdout)
	// libcnb gets a logger that is off: at debug level it would print the platform's environment, tokens included, and
	// list the whole app folder.
	off := libcnb.WithLogger(log.PaketoLogger{})
	// libpak's writer would list the image's labels after the exec probe, which is to be the end of the log.
	quiet := libcnb.WithTOMLWriter(utils.NewTOMLWriter(utils.WithTOMLWriterLogger(log.NewDiscardLogger())))
	libpak.BuildpackMain(detect.Phase(logger), build.Phase(logger), off, quiet)
}
