import greeter.v1.GreetRequest;
import greeter.v1.GreeterGrpc;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;

/** Has itself greeted by the server at the address in its only argument. */
public final class Client {
  public static void main(String[] args) {
    ManagedChannel channel = ManagedChannelBuilder.forTarget(args[0]).usePlaintext().build();
    GreetRequest request = GreetRequest.newBuilder().setName("Java").build();
    System.out.println(GreeterGrpc.newBlockingStub(channel).withWaitForReady().greet(request).getGreeting());
    channel.shutdown();
  }
}
