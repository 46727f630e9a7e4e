# An image that a Dockerfile still builds takes the probe, with the path, from the image that has nothing else.
ARG IMAGE=my-old-app
FROM ${IMAGE}
COPY --from=ghcr.io/grpc-cnb/grpc-health-probe:0.1.0 /bin/ /layers/grpc-cnb_health-probe/probe/bin/
