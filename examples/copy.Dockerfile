# An image that a Dockerfile still builds takes the probe, with the path, from the image that has only the probe and the
# bridge.
ARG IMAGE=my-old-app
FROM ${IMAGE}
COPY --from=ghcr.io/grpc-cnb/grpc-health-probe:0.1.0 /bin/grpc_health_probe /layers/grpc-cnb_health-probe/probe/bin/
