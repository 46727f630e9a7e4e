import greeter.v1.GreetRequest
import greeter.v1.GreeterGrpc
import io.grpc.ManagedChannelBuilder

/** Has itself greeted by the server at the address in its only argument. */
fun main(args: Array<String>) {
    val channel = ManagedChannelBuilder.forTarget(args[0]).usePlaintext().build()
    val request = GreetRequest.newBuilder().setName("Kotlin").build()
    println(GreeterGrpc.newBlockingStub(channel).withWaitForReady().greet(request).greeting)
    channel.shutdown()
}
