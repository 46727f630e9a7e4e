# Greets on port 50063. SIGHUP makes it NOT_SERVING.
require "grpc"
require "grpc/health/checker"
require "greeter_services_pb"

class GreeterService < Greeter::V1::Greeter::Service
  def greet(request, _call)
    Greeter::V1::GreetResponse.new(greeting: "Hello, #{request.name}")
  end
end

STATUS = Grpc::Health::V1::HealthCheckResponse::ServingStatus

health = Grpc::Health::Checker.new
health.add_status("", STATUS::SERVING)
# The checker has a lock, and none may be taken in the handler of a signal.
trap("HUP") { Thread.new { health.add_status("", STATUS::NOT_SERVING) } }

server = GRPC::RpcServer.new
server.add_http2_port("0.0.0.0:50063", :this_port_is_insecure)
server.handle(GreeterService)
server.handle(health)
server.run_till_terminated
