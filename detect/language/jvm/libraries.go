package jvm

import (
	"slices"
	"strings"
)

// libraryPackages are the packages of libraries and frameworks. In a jar that holds an app with all its dependencies,
// the classes in them are not the app's own.
var libraryPackages = []string{
	"io/grpc/", "io/netty/", "io/vertx/", "io/quarkus/", "io/micronaut/", "io/helidon/", "io/opentelemetry/",
	"io/opencensus/", "io/envoyproxy/", "io/temporal/", "io/dapr/", "io/etcd/", "io/servicetalk/", "io/perfmark/",
	"io/micrometer/", "io/smallrye/", "io/prometheus/", "com/google/", "com/linecorp/", "com/fasterxml/",
	"com/lightbend/", "com/typesafe/", "org/springframework/", "org/lognet/", "org/apache/", "org/eclipse/",
	"net/devh/", "akka/", "play/", "scala/", "scalapb/", "kotlin/", "kotlinx/", "zio/", "fs2/", "cats/", "reactor/",
	"com/salesforce/grpc/contrib/", "META-INF/versions/",
}

// servingPackages are packages of further libraries that hold a gRPC server for those who start it. An app that has one
// of them among its dependencies does not serve gRPC by that.
var servingPackages = []string{
	"org/hyperledger/fabric/shim/", "org/grpcmock/", "org/wiremock/", "com/alibaba/nacos/", "io/camunda/zeebe/",
	"org/mockserver/",
}

func isLibraryClass(name string) bool { return hasPrefixIn(name, libraryPackages) }

func isServingLibrary(name string) bool { return hasPrefixIn(name, servingPackages) }

func hasPrefixIn(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}
