package ruby

import (
	"github.com/grpc-cnb/health-probe/detect/address"
	"github.com/grpc-cnb/health-probe/detect/analyzer"
)

// The names of the frameworks in the build plan and for users.
const (
	grpc     = "grpc"
	gruf     = "gruf"
	griffin  = "griffin"
	grpcKit  = "grpc_kit"
	anyCable = "anycable"
)

// Registration of the health service, by the sources of the frameworks:
//
//	grpc, griffin, grpc_kit  never (GRPC::RpcServer, lib/grpc_kit/server.rb); griffin brings a Checker (folder pb),
//	                         and grpc_kit takes no service that is made for grpc
//	gruf                     with health_check_enabled, --health-check or GRUF_HEALTH_CHECK_ENABLED, all of which came
//	                         with 2.16.0 (lib/gruf/cli/executor.rb, lib/gruf/configuration.rb, CHANGELOG.md)
//	AnyCable                 always, and sets the status of "anycable.RPC" alone (lib/anycable/grpc/server.rb)
var frameworks = []analyzer.Framework{
	{
		Name: grpc, SpeaksFirst: true,
		Keywords:            []string{"GRPC", "Grpc", "::Service"},
		Evidence:            "`GRPC::RpcServer`",
		Health:              byChecker,
		Advice:              "server.handle(" + checker + ")" + requireChecker,
		ExplicitCredentials: true,
	},
	{
		Name: gruf, SpeaksFirst: true,
		Keywords: []string{"Gruf"},
		Port:     analyzer.DefaultPort{Number: 9001, Source: "lib/gruf/configuration.rb"},
		Evidence: "a subclass of `Gruf::Controllers::Base`, `Gruf::Server`, `Gruf::Cli::Executor`",
		Health: "gruf 2.16 and newer, with `health_check_enabled`, `--health-check` or " +
			"`GRUF_HEALTH_CHECK_ENABLED`; or the app, by a controller",
		Advice: "Gruf.configure { |c| c.health_check_enabled = true }",
	},
	{
		Name:     griffin,
		Keywords: []string{"Griffin"},
		Evidence: "`Griffin::Server`",
		Health:   byChecker,
		Advice:   "c.services " + checker + requireChecker,
	},
	{
		Name:     grpcKit,
		Keywords: []string{"Grpc"},
		Evidence: "`GrpcKit::Server`",
		Health:   byChecker,
		Advice: "class Health < Grpc::Health::V1::Health::Service; def check(*) = " +
			"Grpc::Health::V1::HealthCheckResponse.new(status: :SERVING); end; server.handle(Health), with code of " +
			"grpc-tools for grpc/health/v1/health.proto",
	},
	{
		Name:     anyCable,
		Keywords: []string{"AnyCable"},
		Port:     analyzer.DefaultPort{Number: 50051, Host: address.Loopback, Source: "lib/anycable/grpc/config.rb"},
		Settings: "`anycable.yml`",
		Evidence: "`bundle exec anycable` in a Procfile, `rpc_host` in anycable.yml or `AnyCable.configure`, " +
			"`AnyCable::CLI`",
		Service: "anycable.RPC",
		Health:  "the framework, for the service `anycable.RPC` alone: probe it with `-service=anycable.RPC`",
	},
}

const (
	byChecker = "the app, by `Grpc::Health::Checker` or an own `Grpc::Health::V1::Health::Service`"
	// checker is a Checker with a status for the empty name, which stands for the whole server: a new Checker answers
	// NOT_FOUND to a probe of the empty name.
	checker = `Grpc::Health::Checker.new.tap { |c| ` +
		`c.add_status("", Grpc::Health::V1::HealthCheckResponse::ServingStatus::SERVING) }`
	requireChecker = `, with require "grpc/health/checker"`
)
