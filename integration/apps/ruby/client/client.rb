# Has itself greeted by the server at the address in its only argument.
require "grpc"
require "greeter_services_pb"

greeter = Greeter::V1::Greeter::Stub.new(ARGV.fetch(0), :this_channel_is_insecure)
puts greeter.greet(Greeter::V1::GreetRequest.new(name: "Ruby")).greeting
