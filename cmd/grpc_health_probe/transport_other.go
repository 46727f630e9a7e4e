//go:build !linux

package main

import "github.com/grpc-cnb/health-probe/probe/grpcgo"

var transport grpcgo.Transport
