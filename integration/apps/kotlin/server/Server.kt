import greeter.v1.GreetRequest
import greeter.v1.GreetResponse
import greeter.v1.GreeterGrpc
import io.grpc.ServerBuilder
import io.grpc.health.v1.HealthCheckRequest
import io.grpc.health.v1.HealthCheckResponse
import io.grpc.health.v1.HealthCheckResponse.ServingStatus
import io.grpc.health.v1.HealthGrpc
import io.grpc.stub.StreamObserver
import sun.misc.Signal

class Greeter : GreeterGrpc.GreeterImplBase() {
    override fun greet(request: GreetRequest, answer: StreamObserver<GreetResponse>) {
        answer.onNext(GreetResponse.newBuilder().setGreeting("Hello, ${request.name}").build())
        answer.onCompleted()
    }
}

class Health : HealthGrpc.HealthImplBase() {
    @Volatile
    var status = ServingStatus.SERVING

    override fun check(request: HealthCheckRequest, answer: StreamObserver<HealthCheckResponse>) {
        answer.onNext(HealthCheckResponse.newBuilder().setStatus(status).build())
        answer.onCompleted()
    }
}

/** Greets on port 50066. SIGHUP makes it NOT_SERVING. */
fun main() {
    val health = Health()
    Signal.handle(Signal("HUP")) { health.status = ServingStatus.NOT_SERVING }
    val server = ServerBuilder.forPort(50066)
        .addService(Greeter())
        .addService(health)
        .build()
    server.start().awaitTermination()
}
