"""Greets on port 50061. SIGHUP makes it NOT_SERVING."""
import signal
from concurrent import futures

import grpc

import greeter_pb2
import greeter_pb2_grpc
import health_pb2
import health_pb2_grpc


class Greeter(greeter_pb2_grpc.GreeterServicer):
    def Greet(self, request, context):
        return greeter_pb2.GreetResponse(greeting=f"Hello, {request.name}")


class Health(health_pb2_grpc.HealthServicer):
    status = health_pb2.HealthCheckResponse.SERVING

    def Check(self, request, context):
        return health_pb2.HealthCheckResponse(status=self.status)

    def leave(self, *_):
        self.status = health_pb2.HealthCheckResponse.NOT_SERVING


def main():
    health = Health()
    signal.signal(signal.SIGHUP, health.leave)
    server = grpc.server(futures.ThreadPoolExecutor())
    greeter_pb2_grpc.add_GreeterServicer_to_server(Greeter(), server)
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    server.add_insecure_port("[::]:50061")
    server.start()
    server.wait_for_termination()


if __name__ == "__main__":
    main()
