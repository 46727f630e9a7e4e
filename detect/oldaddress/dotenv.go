package address

import (
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// maxVariables is how many variables of one file .env are read.
const maxVariables = 500

// EnvironmentFile returns the environment variables with an address that a file .env sets, for a project that loads it.
// The environment of the process goes before the file, so they are defaults.
func EnvironmentFile(text []byte) []Declaration {
	var all []Declaration
	for _, s := range untrusted.ReadLines(source.TrimBOM(text)) {
		v := Setting(s.Value, s.Line)
		if v.Certainty == Unknown || !variableNames[1].MatchString(s.Key) || len(all) == maxVariables {
			continue
		}
		v.Certainty, v.Variable = Default, s.Key
		all = append(all, Declaration{Name: ofEnvironment(v.Variable), Value: v})
	}
	return all
}

// SetVariable returns that a source sets an environment variable to a value. If that is its default alone, it is like
// that of a file .env. Otherwise neither that nor what the container sets is known to hold: what the source executes
// first decides.
func SetVariable(variable string, isDefault bool, v Value) Declaration {
	if !isDefault || v.Certainty == Unknown {
		v = Value{Address: Address{Place: v.Place}}
	} else {
		v.Certainty, v.Variable = min(v.Certainty, Default), variable
	}
	return Declaration{Name: ofEnvironment(variable), Value: v}
}

// ofEnvironment is the name of an environment variable that a file of the project may set. Some libraries do not tell
// its case.
func ofEnvironment(variable string) string { return "$" + strings.ToUpper(variable) + "=" }
