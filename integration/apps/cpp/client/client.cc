// Has itself greeted by the server at the address in its only argument.
#include <iostream>

#include <grpcpp/grpcpp.h>

#include "greeter.grpc.pb.h"

int main(int, char** argv) {
  auto greeter = greeter::v1::Greeter::NewStub(grpc::CreateChannel(argv[1], grpc::InsecureChannelCredentials()));
  grpc::ClientContext context;
  greeter::v1::GreetRequest request;
  greeter::v1::GreetResponse response;
  request.set_name("C++");
  grpc::Status status = greeter->Greet(&context, request, &response);
  if (!status.ok()) {
    std::cerr << status.error_message() << std::endl;
    return 1;
  }
  std::cout << response.greeting() << std::endl;
}
