package jvm

import "testing"

// A jar with all dependencies of an app has servers that the app does not start.
func TestLibrariesThatHoldServers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"org/hyperledger/fabric/shim/ChaincodeServer":       true,
		"org/grpcmock/GrpcMock":                             true,
		"org/wiremock/grpc/GrpcExtension":                   true,
		"com/alibaba/nacos/core/remote/grpc/BaseGrpcServer": true,
		"io/camunda/zeebe/gateway/Gateway":                  true,
		"org/mockserver/netty/MockServer":                   true,
		"org/mockservers/App":                               false,
		"com/example/io/camunda/zeebe/Gateway":              false,
		"com/alibaba/cloud/Main":                            false,
	} {
		if got := servingLibrary.MatchString(name); got != want {
			t.Errorf("%s is of a library that holds a server: %t", name, got)
		}
	}
}
