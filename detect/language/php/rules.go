package php

import (
	"regexp"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/source"
)

var (
	healthRegistered = analyzer.Finding{Kind: analyzer.HealthRegistered}
	roadRunnerWorker = analyzer.Finding{
		Kind: analyzer.ServiceRegistered, Framework: roadRunner, AutomaticHealth: true,
	}
	// roadRunnerService is a class that Spiral's framework finds and gives RoadRunner.
	roadRunnerService = analyzer.Finding{
		Kind: analyzer.ServiceImplemented, Framework: roadRunner, AutomaticHealth: true, FrameworkServes: true,
	}
	// firstVersionWorker is a worker of RoadRunner's first version, which registers no health service.
	firstVersionWorker  = analyzer.Finding{Kind: analyzer.ServiceRegistered, Framework: roadRunner}
	firstVersionService = analyzer.Finding{
		Kind: analyzer.ServiceImplemented, Framework: roadRunner, FrameworkServes: true,
	}
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
	class   *regexp.Regexp
	usages  usage
	finding analyzer.Finding
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
		analyzer.Finding{Kind: analyzer.ServiceRegistered, Framework: hyperf},
	},
	{
		source.Exactly(`OpenSwoole\\GRPC\\Server`), constructed,
		analyzer.Finding{Kind: analyzer.ServerConstructed, Framework: openSwoole},
	},
	{
		source.Exactly(`Grpc\\RpcServer`), constructed,
		analyzer.Finding{Kind: analyzer.ServerConstructed, Framework: grpcPHP},
	},
	{source.Exactly(`Grpc\\Health\\V1\\HealthInterface`), named, healthRegistered},
	{source.Exactly(`Grpc\\Health\\V1\\HealthStub`), extended, healthRegistered},
	{source.Exactly(`Grpc\\Health\\V1\\Health(?:Check)?(?:Service)?(?:Impl)?`), constructed, healthRegistered},
}

// rules find what needs no full name of a class.
var rules = []analyzer.Rule{
	{Code: regexp.MustCompile(`\bimplements\s+[\w\\,\s]*\bHealthInterface\b`), Finding: healthRegistered},
	{
		Code:    regexp.MustCompile(`["'](?P<literal> +)["']`),
		Literal: regexp.MustCompile(`^/grpc\.health\.v1\.Health(?:/Check)?$`),
		Finding: healthRegistered,
	},
	// The health service of another package, which the server is given by its class.
	{
		Code: regexp.MustCompile(`->(?P<at>(?:handle|register(?:Service)?)\(\s*(?:new\s+)?(?:\\?\w+\\)*` +
			`Health(?:Check)?(?:Service)?(?:Impl|Controller)?\s*(?:\(|::class))`),
		Finding: healthRegistered,
	},
}
