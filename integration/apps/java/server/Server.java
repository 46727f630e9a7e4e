import greeter.v1.GreetRequest;
import greeter.v1.GreetResponse;
import greeter.v1.GreeterGrpc;
import io.grpc.ServerBuilder;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.StreamObserver;
import sun.misc.Signal;

/** Greets on port 50065. SIGHUP makes it NOT_SERVING. */
public final class Server {
  private static final class Greeter extends GreeterGrpc.GreeterImplBase {
    @Override
    public void greet(GreetRequest request, StreamObserver<GreetResponse> answer) {
      answer.onNext(GreetResponse.newBuilder().setGreeting("Hello, " + request.getName()).build());
      answer.onCompleted();
    }
  }

  private static final class Health extends HealthGrpc.HealthImplBase {
    private volatile ServingStatus status = ServingStatus.SERVING;

    @Override
    public void check(HealthCheckRequest request, StreamObserver<HealthCheckResponse> answer) {
      answer.onNext(HealthCheckResponse.newBuilder().setStatus(status).build());
      answer.onCompleted();
    }
  }

  public static void main(String[] args) throws Exception {
    Health health = new Health();
    Signal.handle(new Signal("HUP"), signal -> health.status = ServingStatus.NOT_SERVING);
    ServerBuilder.forPort(50065).addService(new Greeter()).addService(health).build().start().awaitTermination();
  }
}
