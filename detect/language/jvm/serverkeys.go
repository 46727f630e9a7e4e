package jvm

// serverKeys are the settings of a server that a framework makes, by the names in the framework's property classes, or
// in Play's reference.conf, in the spelling that normalize returns. "" stands for a setting that there is not.
type serverKeys struct {
	port string
	host string // a host, an address or a Unix domain socket
	// off is the setting by which the framework makes no server, as key=value, and health are those that disable
	// grpc.health.v1.
	off    string
	health []string
	tls    tlsKeys
}

// tlsKeys are the settings of a server's TLS.
type tlsKeys struct {
	// enabled is the setting that decides, if it is set; if not, the server has TLS if one is set whose key begins with
	// one of given.
	enabled string
	given   []string
	// requires is the setting with the mode of client certificates, which are required if its value is one of
	// REQUIRE, REQUIRED, NEED and TRUE.
	requires, certificate, authority string
}

// frameworkKeys are the settings of the servers that frameworks make. Their sources are GrpcServerProperties.java of
// Spring gRPC, of net.devh and of grpc-starter, GRpcServerProperties.java of LogNet, GrpcServerConfiguration.java and
// SslServerConfig.java of Quarkus, GrpcServerConfiguration.java and GrpcSslConfiguration.java of Micronaut,
// ProtocolConfig.java and SslConfig.java of Dubbo, reference.conf of play-server, ListenerConfigBlueprint.java and
// TlsConfigBlueprint.java of Helidon, and ArmeriaSettings.java.
var frameworkKeys = map[string]serverKeys{
	springGRPC: {
		port: "spring.grpc.server.port", host: "spring.grpc.server.host",
		off: "spring.grpc.server.enabled=false", health: []string{"spring.grpc.server.health.enabled=false"},
		tls: tlsKeys{
			enabled: "spring.grpc.server.ssl.enabled", given: []string{"spring.grpc.server.ssl.bundle"},
			requires: "spring.grpc.server.ssl.clientauth",
		},
	},
	netDevh: {
		port: "grpc.server.port", host: "grpc.server.address", off: "grpc.server.port=-1",
		health: []string{"grpc.server.healthserviceenabled=false", "grpc.server.healthservice.type=none"},
		tls: tlsKeys{
			enabled: "grpc.server.security.enabled", requires: "grpc.server.security.clientauth",
			certificate: "grpc.server.security.certificatechain", authority: "grpc.server.security.trustcertcollection",
		},
	},
	logNet: {
		port: "grpc.port", host: "grpc.nettyserver.primarylistenaddress", off: "grpc.enabled=false",
		tls: tlsKeys{given: []string{"grpc.security.certchain"}, certificate: "grpc.security.certchain"},
	},
	grpcStarter: {
		port: "grpc.server.port", off: "grpc.server.enabled=false",
		health: []string{"grpc.server.health.enabled=false"}, tls: tlsKeys{given: []string{"grpc.server.sslbundle"}},
	},
	quarkus: {
		port: "quarkus.grpc.server.port", host: "quarkus.grpc.server.host",
		health: []string{"quarkus.grpc.server.grpchealth.enabled=false"},
		tls: tlsKeys{
			given:    []string{"quarkus.grpc.server.ssl.certificate", "quarkus.grpc.server.ssl.keystore"},
			requires: "quarkus.grpc.server.ssl.clientauth", certificate: "quarkus.grpc.server.ssl.certificate",
		},
	},
	micronaut: {
		port: "grpc.server.port", host: "grpc.server.host",
		off: "grpc.server.enabled=false", health: []string{"grpc.server.health.enabled=false"},
		tls: tlsKeys{given: []string{"grpc.server.ssl.certchain"}, certificate: "grpc.server.ssl.certchain"},
	},
	dubbo: {
		port: dubboPort, host: "dubbo.protocol.host",
		tls: tlsKeys{
			enabled: "dubbo.protocol.sslenabled", requires: "dubbo.ssl.servertrustcertcollectionpath",
			certificate: "dubbo.ssl.serverkeycertchainpath", authority: "dubbo.ssl.servertrustcertcollectionpath",
		},
	},
	playGRPC: {
		port: "play.server.https.port", host: "play.server.https.address",
		tls: tlsKeys{given: []string{"play.server.https.port"}, requires: "play.server.https.needclientauth"},
	},
	helidon: {
		port: "server.port", host: "server.host",
		tls: tlsKeys{enabled: "server.tls.enabled", given: []string{"server.tls."}, requires: "server.tls.clientauth"},
	},
	armeria: {
		port: "armeria.ports[0].port", host: "armeria.ports[0].address",
		tls: tlsKeys{requires: "armeria.ssl.clientauth"},
	},
}

// webKeys are the settings of the web servers that serve gRPC too if the app asks for it: Spring's of
// ServerProperties.java, Quarkus' of VertxHttpConfig.java, and Play's without TLS.
var webKeys = map[string]serverKeys{
	springGRPC: {
		port: "server.port", host: "server.address",
		tls: tlsKeys{
			enabled:  "server.ssl.enabled",
			given:    []string{"server.ssl.keystore", "server.ssl.certificate", "server.ssl.bundle"},
			requires: "server.ssl.clientauth", certificate: "server.ssl.certificate",
			authority: "server.ssl.trustcertificate",
		},
	},
	quarkus:  {port: "quarkus.http.port", host: "quarkus.http.host"},
	playGRPC: {port: "play.server.http.port", host: "play.server.http.address"},
	helidon:  {port: "grpc.port"},
}
