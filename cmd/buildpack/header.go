package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/buildpacks/libcnb/v2"
	"github.com/paketo-buildpacks/libpak/v2/log"
	"github.com/paketo-buildpacks/libpak/v2/utils"

	"github.com/grpc-cnb/health-probe/detect/buildplan"
)

// header is a phase's log and end. It prints the buildpack's name and version once: as the title, or before an error of
// a phase without a title.
type header struct {
	log.Logger
	utils.ExitHandler

	titled bool
}

func newHeader() *header {
	return &header{Logger: log.NewPaketoLogger(os.Stdout), ExitHandler: utils.NewExitHandler()}
}

// Title prints the buildpack's name, version and home page.
func (h *header) Title(name, version, homepage string) {
	h.titled = true
	h.Logger.Title(name, version, homepage)
}

// Error prints an error and ends the program: the build phase with exit code 1, which fails the build (buildpack spec,
// Build), and the detect phase with a plan that fails the build phase.
func (h *header) Error(err error) {
	if filepath.Base(os.Args[0]) == "detect" {
		if buildplan.HandOn(err, os.Getenv(libcnb.EnvDetectPlanPath), h) == nil {
			h.Pass()
		}
	}
	if h.titled {
		fmt.Fprintf(h.TerminalErrorWriter(), "error: %s\n", err)
		os.Exit(utils.ErrorStatusCode)
	}
	h.ExitHandler.Error(err)
}
