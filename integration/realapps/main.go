// Command realapps tries the buildpack on apps of other authors: realapps takes the sources of an app, runs the phases
// detect and build, compiles and starts the app by the app's own documents, and executes the exec probe of the build's
// log exactly as printed. Then realapps asks each address of the app and compares the answers with the log. Each app is
// tried twice: first the build gives no address to the probe, then the address in the sources.
//
//	go run ./realapps -buildpack ../dist/buildpack            # all apps of realapps/apps.toml
//	go run ./realapps -buildpack ../dist/buildpack NAME...    # some of them
//	go run ./realapps -table MY.toml                          # a table of your own
//
// The command needs Linux, root and the apps' tools: Go, and of Debian 12 protobuf-compiler-grpc, libprotobuf-dev,
// libgrpc++-dev, pkg-config, python3-grpcio, python3-grpc-tools, ruby-grpc, libgrpc-java, libprotobuf-java,
// libnetty-java, libperfmark-java, protobuf-compiler-grpc-java-plugin and grpc-proto. Sources come from Go's module
// proxy and from Debian's source packages. Each app runs in separate namespaces: the app sees only loopback as a
// network, and ends with the check, along with all written files. Begin with [run], then [checker.try].
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

// checker has the absolute folders of the buildpack and of sources and programs.
type checker struct{ buildpack, work string }

// run tries the apps of a table, prints a line of a Markdown table for each app, and returns 1 if an outcome differs
// from the table's.
func run(ctx context.Context, c checker, table string, names []string) (code int, err error) {
	for _, folder := range []*string{&c.buildpack, &c.work} {
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
	var all []outcomes
	for _, a := range apps {
		if len(names) > 0 && !slices.Contains(names, a.Name) {
			continue
		}
		results, err := c.try(ctx, a)
		if err = errors.Join(err, ctx.Err()); err != nil {
			fmt.Fprintf(os.Stdout, "| %s | not tried: %q |\n", a.Name, err.Error())
			code = 1
			continue
		}
		fmt.Fprint(os.Stdout, row(a, results))
		all = append(all, judgeAll(results))
		if text := unexpected(a, results); text != "" {
			fmt.Fprint(os.Stderr, text)
			code = 1
		}
	}
	fmt.Fprint(os.Stdout, "\n"+summary(all))
	return code, nil
}

// unexpected describes the outcomes that differ from the table's, with the words of the log and of the probe.
func unexpected(a app, results [len(builds)]result) (text string) {
	want := a.want()
	for i, v := range judgeAll(results) {
		if r := results[i]; v != want {
			text += fmt.Sprintf("%s, %s: the outcome is %q, the table expects %q: ", a.Name, builds[i].title, v, want)
			text += fmt.Sprintf("the log means %+v; %+v; exit code %d: %s\n", r.Claims[0], r.Printed, r.Code, r.Said)
		}
	}
	return text
}

// build is a way to build an app.
type build struct {
	title   string // head of the column with the outcomes
	setting string // variable of the build as NAME=VALUE
}

// builds are the ways to build each app.
var builds = [...]build{
	{"nothing known at build time", "BP_GRPC_HEALTH_PROBE_DETECT_PORT=false"},
	{"as printed", "BP_GRPC_HEALTH_PROBE_DETECT_PORT=true"},
}

func (c checker) try(ctx context.Context, a app) (results [len(builds)]result, err error) {
	for i, b := range builds {
		if results[i], err = c.tryWith(ctx, a, b); err != nil {
			return results, err
		}
	}
	return results, nil
}

func (c checker) tryWith(ctx context.Context, a app, b build) (result, error) {
	p := place{folder: filepath.Join(c.work, "apps", a.Name)}
	if err := p.reset(); err != nil {
		return result{}, err
	}
	from, err := c.stage(ctx, a, p)
	if err != nil {
		return result{}, err
	}
	if err := compile(ctx, a, p, from); err != nil {
		return result{}, err
	}
	a.Env = append(slices.Clip(a.Env), b.setting)
	if err := c.detect(ctx, a, p); err != nil {
		return result{}, err
	}
	return c.serve(ctx, a, p)
}
