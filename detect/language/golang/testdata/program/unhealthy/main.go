// Command unhealthy serves gRPC without the health service.
package main

import (
	"net"

	"google.golang.org/grpc"
)

func main() {
	lis, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		panic(err)
	}
	panic(grpc.NewServer().Serve(lis))
}
