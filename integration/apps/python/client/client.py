"""Has itself greeted by the server at the address in its only argument."""
import sys

import grpc

import greeter_pb2
import greeter_pb2_grpc

with grpc.insecure_channel(sys.argv[1]) as channel:
    greeter = greeter_pb2_grpc.GreeterStub(channel)
    print(greeter.Greet(greeter_pb2.GreetRequest(name="Python"), wait_for_ready=True).greeting)
