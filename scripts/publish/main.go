// Command publish puts a release into a registry of images, for scripts/publish.sh, where a shell is not enough:
//
//	publish [-force] -record FILE buildpack REGISTRY/NAME PACKAGE...
//	publish [-force] -record FILE [-label KEY=VALUE]... probe|plugin REGISTRY/NAME FOLDER
//
// The input is the packages of scripts/package.sh with the SBOMs beside them, or a folder of programs. The output is an
// index in the registry with one image for each platform, the index's tags, and a file with the index's name. Begin
// with repository.publish, which has the order.
//
// The command has a Go module of its own, so that the product needs no client for registries. scripts/build.sh calls
// scripts/release: with publish in scripts/release, each build of the buildpack would compile the client too.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

// limit ends a run that hangs, for example on a registry that does not answer.
const limit = 30 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, limit)
	err := run(ctx, os.Args[1:], os.Stdout)
	cancel()
	stop()
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		os.Exit(1)
	}
}

type options struct {
	force  bool
	record string
	labels map[string]string
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o := options{labels: map[string]string{}}
	flags := flag.NewFlagSet("publish", flag.ContinueOnError)
	flags.BoolVar(&o.force, "force", false, "replace a version that is published with other content")
	flags.StringVar(&o.record, "record", "", "the `file` that gets the name of the published image")
	flags.Func("label", "a label of the images, `KEY=VALUE`", func(pair string) error {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return errors.New("it is not KEY=VALUE")
		}
		o.labels[key] = value
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch what, rest := flags.Arg(0), flags.Args(); {
	case what == "buildpack" && len(rest) > 2:
		return publishBuildpack(ctx, o, rest[1], rest[2:], out)
	case programsOf[what].main != "" && len(rest) == 3:
		return publishPrograms(ctx, o, programsOf[what], rest[1], rest[2], out)
	}
	return fmt.Errorf("reading the arguments %q: see the scripts that start this program", flags.Args())
}

func publishBuildpack(ctx context.Context, o options, to string, packages []string, out io.Writer) error {
	repository, err := newRepository(ctx, to, out)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "publish-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	var release release
	for _, file := range packages {
		images, err := readPackage(temp, file)
		if err != nil {
			return err
		}
		sboms, err := readSBOMs(strings.TrimSuffix(file, ".cnb"))
		if err != nil {
			return err
		}
		for i := range images {
			images[i].sboms = sboms
		}
		release.images = append(release.images, images...)
	}
	published, err := repository.publish(release, o.force)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nTo build with it:\n\n  pack build my-app --builder BUILDER -b from=builder -b %s\n",
		published.pinned())
	return published.record(o.record)
}

func publishPrograms(ctx context.Context, o options, p programs, to, folder string, out io.Writer) error {
	repository, err := newRepository(ctx, to, out)
	if err != nil {
		return err
	}
	release, err := p.read(folder, o.labels)
	if err != nil {
		return err
	}
	published, err := repository.publish(release, o.force)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n"+p.use, published.pinned())
	return published.record(o.record)
}
