// Greets on port 50064. SIGHUP makes it NOT_SERVING.
#include <csignal>
#include <memory>
#include <string>

#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>

#include "greeter.grpc.pb.h"

class GreeterService final : public greeter::v1::Greeter::Service {
  grpc::Status Greet(grpc::ServerContext*, const greeter::v1::GreetRequest* request,
                     greeter::v1::GreetResponse* response) override {
    response->set_greeting("Hello, " + request->name());
    return grpc::Status::OK;
  }
};

int main() {
  // Blocked before there are other threads, so that the signal waits for this one.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  grpc::EnableDefaultHealthCheckService(true);
  GreeterService greeter;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("0.0.0.0:50064", grpc::InsecureServerCredentials());
  builder.RegisterService(&greeter);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();

  int received;
  sigwait(&signals, &received);
  server->GetHealthCheckService()->SetServingStatus(false);
  server->Wait();
}
