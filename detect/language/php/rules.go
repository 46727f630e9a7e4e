package php

import (
	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

var (
	roadRunnerWorker = finding.WithHealth(finding.Registers(roadRunner))
	// roadRunnerService is a class that Spiral's framework finds and gives RoadRunner.
	roadRunnerService = finding.WithHealth(finding.Serves(roadRunner))
	// firstVersionWorker is a worker of RoadRunner's first version, which registers no health service.
	firstVersionWorker  = finding.Registers(roadRunner)
	firstVersionService = finding.Serves(roadRunner)
)

// usage is how a class is used. A rule may permit several usages.
type usage int

const (
	constructed usage = 1 << iota // new X
	named                         // X::class
	extended                      // extends X
)

// classRules find the uses of classes by their full names.
var classRules = []struct {
	class  *lazyregexp.Regexp
	usages usage
	proves finding.Make
}{
	{source.Exactly(`Spiral\\RoadRunner\\GRPC\\Server`), constructed | named, roadRunnerWorker},
	{source.Exactly(`Spiral\\GRPC\\Server`), constructed | named, firstVersionWorker},
	{source.Exactly(`Spiral\\RoadRunnerBridge\\Bootloader\\GRPCBootloader`), named, roadRunnerWorker},
	{source.Exactly(`Spiral\\Bootloader\\GRPC\\GRPCBootloader`), named, firstVersionWorker},
	{
		source.Exactly(`Yiisoft\\Yii\\Runner\\RoadRunner\\RoadRunnerGrpcApplicationRunner`), constructed,
		roadRunnerWorker,
	},
	{
		source.Exactly(`Hyperf\\GrpcServer\\Server`), extended,
		finding.Registers(hyperf),
	},
	{
		source.Exactly(`OpenSwoole\\GRPC\\Server`), constructed,
		finding.Constructs(openSwoole),
	},
	{
		source.Exactly(`Grpc\\RpcServer`), constructed,
		finding.Constructs(grpcPHP),
	},
	{source.Exactly(`Grpc\\Health\\V1\\HealthInterface`), named, finding.RegistersHealth},
	{source.Exactly(`Grpc\\Health\\V1\\HealthStub`), extended, finding.RegistersHealth},
	{source.Exactly(`Grpc\\Health\\V1\\Health(?:Check)?(?:Service)?(?:Impl)?`), constructed, finding.RegistersHealth},
}

// rules find what needs no full name of a class.
var rules = []analyzer.Rule{
	{Code: lazyregexp.New(`\bimplements\s+[\w\\,\s]*\bHealthInterface\b`), Proves: registersNamedHealth},
	{
		Code:    lazyregexp.New(`["'](?P<literal> +)["']`),
		Literal: lazyregexp.New(`^/grpc\.health\.v1\.Health(?:/Check)?$`),
		Proves:  finding.RegistersHealth,
	},
	// The health service of another package, which the server is given by its class.
	{
		Code: lazyregexp.New(`->(?P<at>(?:handle|register(?:Service)?)\(\s*(?:new\s+)?(?:\\?\w+\\)*` +
			`Health(?:Check)?(?:Service)?(?:Impl|Controller)?\s*(?:\(|::class))`),
		Proves: registersNamedHealth,
	},
}
