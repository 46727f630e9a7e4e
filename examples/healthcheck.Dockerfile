# For plain docker run: the image of pack build, with a health check of its own. Building it runs nothing, so it needs no
# shell. Used by integration/compose_test.go.
ARG IMAGE=my-app
FROM ${IMAGE}
HEALTHCHECK --interval=5s --timeout=4s --retries=2 \
  CMD ["/layers/grpc-cnb_health-probe/probe/bin/grpc_health_probe"]
