package main

import (
	"fmt"
	"os"

	"github.com/paketo-buildpacks/libpak/v2/log"
	"github.com/paketo-buildpacks/libpak/v2/utils"
)

// header is a phase's log and the end of the phase. It prints the buildpack's name and version once: as the title, or
// before an error of a phase that has printed no title.
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

// Error prints an error and ends the program with exit code 1, which fails the build (buildpack spec, Detection and
// Build).
func (h *header) Error(err error) {
	if h.titled {
		fmt.Fprintf(h.TerminalErrorWriter(), "error: %s\n", err)
		os.Exit(utils.ErrorStatusCode)
	}
	h.ExitHandler.Error(err)
}
