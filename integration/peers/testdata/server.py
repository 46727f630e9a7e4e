# The health service on gRPC's C core. Arguments: a certificate and its key, both PEM, the certificate also being the
# CA of clients. Prints a line "NAME ADDRESS" for each listener, then "ready".
import sys
import threading
from concurrent import futures

import grpc

# HealthCheckResponses: field 1, SERVING and NOT_SERVING.
STATUSES = {"": b"\x08\x01", "down": b"\x08\x02"}


def check(request, context):
    service = request[2:].decode()  # field 1: a tag, a length under 128, the name
    if service == "slow":
        over = threading.Event()
        if context.add_callback(over.set):
            over.wait()
    elif service not in STATUSES:
        # A message that has to be percent-encoded on its way.
        context.abort(grpc.StatusCode.NOT_FOUND, f"no service {service}: 100 % unknown – really\n")
    return STATUSES.get(service, b"")


def listen(name, credentials, *handlers):
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=8), handlers=handlers)
    if credentials:
        port = server.add_secure_port("127.0.0.1:0", credentials)
    else:
        port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(name, f"127.0.0.1:{port}", flush=True)
    return server


cert, key = (open(path, "rb").read() for path in sys.argv[1:])
tls = grpc.ssl_server_credentials([(key, cert)])
mtls = grpc.ssl_server_credentials([(key, cert)], root_certificates=cert, require_client_auth=True)
health = grpc.method_handlers_generic_handler(
    "grpc.health.v1.Health", {"Check": grpc.unary_unary_rpc_method_handler(check)})

servers = [listen("plain", None, health), listen("tls", tls, health), listen("mtls", mtls, health), listen("bare", None)]
print("ready", flush=True)
for server in servers:
    server.wait_for_termination()
