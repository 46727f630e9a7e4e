import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.netty.GrpcSslContexts;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * The health service on grpc-java and Netty. Arguments: a certificate and its key, both PEM, the certificate also being
 * the CA of clients. Prints a line "NAME ADDRESS" for each listener, then "ready".
 */
public final class Server {
  /** HealthCheckResponses: field 1, SERVING and NOT_SERVING. */
  private static final Map<String, byte[]> STATUSES = Map.of("", new byte[] {8, 1}, "down", new byte[] {8, 2});

  /** Messages as they are on the wire. */
  private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
    @Override
    public InputStream stream(byte[] message) {
      return new ByteArrayInputStream(message);
    }

    @Override
    public byte[] parse(InputStream message) {
      try {
        return message.readAllBytes();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private static void check(byte[] request, StreamObserver<byte[]> answer) {
    // Field 1: a tag, a length under 128, the name.
    String service = request.length < 2 ? "" : new String(request, 2, request.length - 2, StandardCharsets.UTF_8);
    if (service.equals("slow")) {
      return;
    }
    if (!STATUSES.containsKey(service)) {
      answer.onError(Status.NOT_FOUND.withDescription("unknown service " + service).asRuntimeException());
      return;
    }
    answer.onNext(STATUSES.get(service));
    answer.onCompleted();
  }

  private static ServerServiceDefinition health() {
    Bytes bytes = new Bytes();
    MethodDescriptor<byte[], byte[]> method =
        MethodDescriptor.newBuilder(bytes, bytes)
            .setType(MethodType.UNARY)
            .setFullMethodName("grpc.health.v1.Health/Check")
            .build();
    return ServerServiceDefinition.builder("grpc.health.v1.Health")
        .addMethod(method, ServerCalls.asyncUnaryCall(Server::check))
        .build();
  }

  private static SslContext tls(File cert, File key, ClientAuth clients) throws IOException {
    SslContextBuilder context = SslContextBuilder.forServer(cert, key).trustManager(cert).clientAuth(clients);
    return GrpcSslContexts.configure(context, SslProvider.OPENSSL).build();
  }

  private static void listen(String name, SslContext tls, List<ServerServiceDefinition> services) throws IOException {
    io.grpc.Server server =
        NettyServerBuilder.forAddress(new InetSocketAddress("127.0.0.1", 0)).sslContext(tls).addServices(services).build();
    System.out.println(name + " 127.0.0.1:" + server.start().getPort());
  }

  public static void main(String[] args) throws Exception {
    File cert = new File(args[0]);
    File key = new File(args[1]);
    List<ServerServiceDefinition> services = List.of(health());
    listen("plain", null, services);
    listen("tls", tls(cert, key, ClientAuth.NONE), services);
    listen("mtls", tls(cert, key, ClientAuth.REQUIRE), services);
    listen("bare", null, List.of());
    System.out.println("ready");
    Thread.currentThread().join(); // Netty's threads do not keep the process.
  }
}
