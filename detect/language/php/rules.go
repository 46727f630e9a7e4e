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

// The usages of a class, as the groups of [classUse] are called.
const (
	constructed = "constructed" // new X
	named       = "named"       // X::class
	extended    = "extended"    // extends X
)

var classRules = []struct {
	class  *lazyregexp.Regexp
	usages []string
	proves finding.Make
}{
	{source.Exactly(`Spiral\\RoadRunner\\GRPC\\Server`), []string{constructed, named}, roadRunnerWorker},
	{source.Exactly(`Spiral\\GRPC\\Server`), []string{constructed, named}, firstVersionWorker},
	{source.Exactly(`Spiral\\RoadRunnerBridge\\Bootloader\\GRPCBootloader`), []string{named}, roadRunnerWorker},
	{source.Exactly(`Spiral\\Bootloader\\GRPC\\GRPCBootloader`), []string{named}, firstVersionWorker},
	{
		source.Exactly(`Yiisoft\\Yii\\Runner\\RoadRunner\\RoadRunnerGrpcApplicationRunner`),
		[]string{constructed},
		roadRunnerWorker,
	},
	{source.Exactly(`Hyperf\\GrpcServer\\Server`), []string{extended}, finding.Registers(hyperf)},
	{source.Exactly(`OpenSwoole\\GRPC\\Server`), []string{constructed}, finding.Constructs(openSwoole)},
	{source.Exactly(`Grpc\\RpcServer`), []string{constructed}, finding.Constructs(grpcPHP)},
	{source.Exactly(`Grpc\\Health\\V1\\HealthInterface`), []string{named}, finding.RegistersHealth},
	{source.Exactly(`Grpc\\Health\\V1\\HealthStub`), []string{extended}, finding.RegistersHealth},
	{
		source.Exactly(`Grpc\\Health\\V1\\Health(?:Check)?(?:Service)?(?:Impl)?`),
		[]string{constructed},
		finding.RegistersHealth,
	},
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
