// Command procfile is an app buildpack for the tests, bin/detect and bin/build in one program: procfile runs make if
// the app has a Makefile, and turns the lines of the app's Procfile ("web: ./server -v") into launch processes. The
// first process is the default.
package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/buildpacks/libcnb/v2"
)

func main() {
	libcnb.BuildpackMain(detect, build)
}

func detect(ctx libcnb.DetectContext) (libcnb.DetectResult, error) {
	_, err := os.Stat(filepath.Join(ctx.ApplicationPath, "Procfile"))
	if os.IsNotExist(err) {
		return libcnb.DetectResult{}, nil
	}
	return libcnb.DetectResult{Pass: true}, err
}

func build(ctx libcnb.BuildContext) (libcnb.BuildResult, error) {
	result := libcnb.NewBuildResult()
	if err := compile(ctx.ApplicationPath); err != nil {
		return result, err
	}
	lines, err := os.ReadFile(filepath.Join(ctx.ApplicationPath, "Procfile"))
	if err != nil {
		return result, err
	}
	for line := range strings.Lines(string(lines)) {
		name, command, ok := strings.Cut(line, ":")
		words := strings.Fields(command)
		if !ok || len(words) == 0 {
			continue
		}
		result.Processes = append(result.Processes, libcnb.Process{
			Type: strings.TrimSpace(name), Command: words[:1], Arguments: words[1:],
			Default: len(result.Processes) == 0,
		})
	}
	return result, nil
}

func compile(app string) error {
	if _, err := os.Stat(filepath.Join(app, "Makefile")); os.IsNotExist(err) {
		return nil
	}
	cmd := exec.Command("make", "--directory", app)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	return cmd.Run()
}
