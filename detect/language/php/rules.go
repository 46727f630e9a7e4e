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

// classRules are classes whose use is evidence: new X, extends X, X::class.
var classRules = []struct {
	class  *lazyregexp.Regexp
	proves finding.Make
}{
	{source.Exactly(`Spiral\\RoadRunner\\GRPC\\Server`), roadRunnerWorker},
	{source.Exactly(`Spiral\\GRPC\\Server`), firstVersionWorker},
	{source.Exactly(`Spiral\\RoadRunnerBridge\\Bootloader\\GRPCBootloader`), roadRunnerWorker},
	{source.Exactly(`Spiral\\Bootloader\\GRPC\\GRPCBootloader`), firstVersionWorker},
	{source.Exactly(`Yiisoft\\Yii\\Runner\\RoadRunner\\RoadRunnerGrpcApplicationRunner`), roadRunnerWorker},
	{source.Exactly(`Hyperf\\GrpcServer\\Server`), finding.Registers(hyperf)},
	{source.Exactly(`OpenSwoole\\GRPC\\Server`), finding.Constructs(openSwoole)},
	{source.Exactly(`Grpc\\RpcServer`), finding.Constructs(grpcPHP)},
	{
		source.Exactly(`Grpc\\Health\\V1\\Health(?:Interface|Stub|(?:Check)?(?:Service)?(?:Impl)?)`),
		finding.RegistersHealth,
	},
}

// rules match code without the full name of a class.
var rules = []analyzer.Rule{
	{Code: lazyregexp.New(`\bimplements\s+[\w\\,\s]*\bHealthInterface\b`), Proves: registersNamedHealth},
	{
		Code:    lazyregexp.New(`["'](?P<literal> +)["']`),
		Literal: lazyregexp.New(`^/grpc\.health\.v1\.Health(?:/Check)?$`),
		Proves:  finding.RegistersHealth,
	},
	// The health service of another package, given to the server by class.
	{
		Code: lazyregexp.New(`->(?P<at>(?:handle|register(?:Service)?)\(\s*(?:new\s+)?(?:\\?\w+\\)*` +
			`Health(?:Check)?(?:Service)?(?:Impl|Controller)?\s*(?:\(|::class))`),
		Proves: registersNamedHealth,
	},
}
