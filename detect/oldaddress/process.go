package address

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/tree/procfile"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// Process is what the command lines of a Procfile give the program that makes a server. It goes before what the program
// says by default. A nil Process gives nothing.
type Process struct {
	procfile.Processes
	// IsDoubtful says that it is not known whether they start this program: then what they give is not known either.
	IsDoubtful bool
}

// FlagGiver returns what a [Value] has among its Givers for a flag, whose name has no dashes.
func FlagGiver(flag string) string { return "--" + flag }

// VariableGiver returns what a [Value] has among its Givers for an environment variable.
func VariableGiver(variable string) string { return "$" + variable }

// argumentGiver returns what a [Value] has among its Givers for an argument of the program, the first one by 1.
func argumentGiver(number int) string { return strconv.Itoa(number) }

// value returns what the process gives by a giver, and whether it gives something.
func (p *Process) value(giver string) (procfile.Value, bool) {
	if flag, ok := strings.CutPrefix(giver, "--"); ok {
		return p.Flag(flag)
	}
	if variable, ok := strings.CutPrefix(giver, "$"); ok {
		return p.Variable(variable)
	}
	number, _ := strconv.Atoi(giver)
	return p.positional(number)
}

// given returns the address that the process gives a value, and whether it gives one. The first giver decides that the
// process has; an environment variable before it may still replace that when the app runs.
func (p *Process) given(v Value) (Address, bool) {
	if p == nil {
		return Address{}, false
	}
	var asked []string
	for _, giver := range v.givers() {
		g, ok := p.value(giver)
		switch variable, isVariable := strings.CutPrefix(giver, "$"); {
		case !ok && isVariable:
			asked = append(asked, variable)
		case !ok || isHost(giver, g):
		default:
			return p.address(g, v, asked), true
		}
	}
	return Address{}, false
}

// givers returns what may give the value, with the environment variable that replaces its address.
func (v Value) givers() []string {
	if giver := VariableGiver(v.Variable); v.Variable != "" && !slices.Contains(v.Givers, giver) {
		return append(slices.Clip(v.Givers), giver)
	}
	return v.Givers
}

// address returns the address that a given text is, on the host of the value that it replaces if it has none.
func (p *Process) address(g procfile.Value, v Value, asked []string) Address {
	unknown := Address{Place: g.Place}
	if _, isAssigned := p.Variable(g.Variable); p.IsDoubtful || g.IsUnknown || g.Variable != "" && isAssigned {
		return unknown
	}
	a := Parse(TrimScheme(g.Text))
	switch {
	case g.Variable == "" && !a.IsKnown():
		return unknown
	case g.Variable != "" && !g.HasDefault:
		a = Parse(TrimScheme(g.Text + strconv.Itoa(minPort))) // the variable stands for the port
		if g.Text == "" || strings.HasSuffix(g.Text, ":") && a.Host != OneInterface {
			a.Port, a.Certainty, a.Variable = 0, Unknown, g.Variable
		} else {
			return unknown
		}
	case g.Variable != "":
		a.Certainty, a.Variable = min(a.Certainty, Default), g.Variable
	}
	if a.Place = g.Place; a.Host == UnknownHost && v.Host != UnixSocket {
		a.Host = v.Host
	}
	if before := slices.ContainsFunc(asked, variableNames[1].MatchString); before {
		a.Certainty, a.Variable = min(a.Certainty, Default), cmp.Or(oneVariable(asked), a.Variable)
	}
	return p.onHost(a, v)
}

// hostGiver is a flag or a variable with a host, whose port stands elsewhere.
var hostGiver = lazyregexp.New(`(?i)host|interface|\bip$|_ip$`)

// isHost reports whether a process gives no more than a host.
func isHost(giver string, g procfile.Value) bool {
	switch text := strings.Trim(g.Text, "[]"); {
	case portName.MatchString(giver):
		return false
	case g.IsUnknown || g.Variable != "" && !g.HasDefault:
		return hostGiver.MatchString(giver) && !strings.Contains(g.Text, ":")
	case Parse(TrimScheme(g.Text)).IsKnown():
		return false
	default:
		return ipOf(text).IsValid() || text == "localhost" || text == "*" || hostGiver.MatchString(giver)
	}
}

// onHost returns an address that was found for a value on the host that the process gives, if it gives one.
func (p *Process) onHost(a Address, v Value) Address {
	if p == nil || a.Host == UnixSocket {
		return a
	}
	for _, giver := range v.Givers {
		g, ok := p.value(giver)
		switch {
		case !ok || !isHost(giver, g):
		case p.IsDoubtful || g.IsUnknown || g.Variable != "":
			a.Host = UnknownHost
		default:
			a.Host = HostOf(g.Text)
		}
	}
	return a
}

// program matches what an interpreter is given as the program: a source, an archive, an assembly.
var program = lazyregexp.New(`\.(?:py|[cm]?[jt]s|rb|php|dart|exs|jar|war|dll)$`)

// interpreters start what is named after them.
var interpreters = []string{
	"python", "python3", "node", "ruby", "java", "dotnet", "php", "dart", "bundle", "npm", "npx", "yarn", "pnpm",
	"uv", "poetry", "pipenv", "elixir", "mix", "sbt", "mvn", "gradle", "swift", "cargo",
	"deno", "bun", "tsx", "ts-node",
}

// Program returns the source, the archive or the assembly that an interpreter is given, and the number of the argument;
// 0 for a process that names none.
func (p *Process) Program() (name string, number int) {
	for number = 1; ; number++ {
		switch g, ok := p.Argument(number); {
		case !ok:
			return "", 0
		case program.MatchString(g.Text) && g.Variable == "":
			return path.Base(g.Text), number
		}
	}
}

// positional returns an argument of the program itself, the first one by 1, and whether there is one. Which one it is
// under an interpreter is known after the program that it executes.
func (p *Process) positional(number int) (procfile.Value, bool) {
	if _, ofInterpreter := p.Program(); ofInterpreter > 0 {
		return p.Argument(ofInterpreter + number)
	}
	first, ok := p.Argument(1)
	switch {
	case ok && first.Text == "-m":
		return p.Argument(2 + number)
	case ok && slices.ContainsFunc(interpreters, p.Names):
		return procfile.Value{IsUnknown: true, Place: first.Place}, true
	}
	return p.Argument(number)
}
