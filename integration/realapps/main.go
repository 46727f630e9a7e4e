// Command realapps tries the buildpack on apps that others wrote: it takes the sources of an app, runs the phases
// detect and build on them, compiles and starts the app as its own documents say, and executes the exec probe of the
// build's log exactly as printed. Then it asks each address on which the app listens, and compares that with what the
// log says.
//
//	go run ./realapps -buildpack ../dist/buildpack            # all apps of realapps/apps.toml
//	go run ./realapps -buildpack ../dist/buildpack NAME...    # some of them
//	go run ./realapps -table MY.toml -folders FOLDER          # a table of your own, with apps of that folder
//
// It needs Linux, root and the tools that an app is compiled with. Sources come from Go's module proxy and from
// Debian's source packages. Each app runs in namespaces of its own: it sees loopback and no other network, what it
// writes is gone when it ends, and it ends with the check. Begin with [run], then [checker.try].
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == insideArg {
		if err := inside(os.Args[2]); err != nil {
			fmt.Fprintf(os.Stderr, "error: %v\n", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(tryAll())
}

// tryAll reads the command line, tries the apps, and returns the exit code.
func tryAll() int {
	var c checker
	table := flag.String("table", "realapps/apps.toml", "the `file` that lists the apps")
	flag.StringVar(&c.buildpack, "buildpack", "../dist/buildpack", "the `folder` of the buildpack")
	flag.StringVar(&c.folders, "folders", "", "the `folder` with the sources of apps that the table calls folder:PATH")
	flag.StringVar(&c.work, "work", "../dist/realapps", "the `folder` for sources and programs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	code, err := run(ctx, c, *table, flag.Args())
	if err != nil {
		fmt.Fprintf(os.Stderr, "error: %v\n", err)
		code = 1
	}
	return code
}

// checker has what the check of an app needs. Its folders are absolute.
type checker struct{ buildpack, folders, work string }

// run tries the apps of a table, prints a line of a Markdown table for each, and returns 1 if one is not as the table
// expects.
func run(ctx context.Context, c checker, table string, names []string) (code int, err error) {
	for _, folder := range []*string{&c.buildpack, &c.folders, &c.work} {
		if *folder, err = filepath.Abs(*folder); err != nil {
			return 1, fmt.Errorf("finding the folder %q: %w", *folder, err)
		}
	}
	apps, err := readTable(table)
	if err != nil {
		return 1, err
	}
	if err := known(apps, names); err != nil {
		return 1, err
	}
	fmt.Fprint(os.Stdout, tableHead)
	var all []verdict
	for _, a := range apps {
		if len(names) > 0 && !slices.Contains(names, a.Name) {
			continue
		}
		r, err := c.try(ctx, a)
		if err = errors.Join(err, ctx.Err()); err != nil {
			fmt.Fprintf(os.Stdout, "| %s | not tried: %q |\n", a.Name, err.Error())
			code = 1
			continue
		}
		v := judge(r)
		all = append(all, v)
		fmt.Fprint(os.Stdout, row(a, r, v))
		if v != a.want() {
			fmt.Fprintf(os.Stderr, "%s: the outcome is %q, the table expects %q\n", a.Name, v, a.want())
			code = 1
		}
	}
	fmt.Fprint(os.Stdout, summary(all))
	return code, nil
}

// try checks one app.
func (c checker) try(ctx context.Context, a app) (result, error) {
	p := place{folder: filepath.Join(c.work, "apps", a.Name)}
	if err := p.reset(); err != nil {
		return result{}, err
	}
	from, err := c.stage(ctx, a, p)
	if err != nil {
		return result{}, err
	}
	if err := c.detect(ctx, a, p); err != nil {
		return result{}, err
	}
	if err := compile(ctx, a, p, from); err != nil {
		return result{}, err
	}
	return c.serve(ctx, a, p)
}
