package main

import "github.com/grpc-cnb/health-probe/probe/lean"

var transport lean.Transport
