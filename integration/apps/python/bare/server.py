"""Greets on port 50062. It has no health service."""
import asyncio

import grpc

import greeter_pb2
import greeter_pb2_grpc


class Greeter(greeter_pb2_grpc.GreeterServicer):
    async def Greet(self, request, context):
        return greeter_pb2.GreetResponse(greeting=f"Hello, {request.name}")


async def main():
    server = grpc.aio.server()
    greeter_pb2_grpc.add_GreeterServicer_to_server(Greeter(), server)
    server.add_insecure_port("[::]:50062")
    await server.start()
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(main())
