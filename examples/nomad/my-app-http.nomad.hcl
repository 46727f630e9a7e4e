# The image, built with BP_GRPC_HEALTH_PROBE_BRIDGE=launch, answers HTTP checks: Nomad makes them itself, without Consul.
job "my-app" {
  group "my-app" {
    network {
      mode = "bridge"
      port "grpc" {
        to = 5000
      }
      port "health" {
        to = 8086
      }
    }

    service {
      name     = "my-app"
      port     = "grpc"
      provider = "nomad"

      check {
        name     = "ready"
        type     = "http"
        port     = "health"
        path     = "/readyz"
        timeout  = "3s"
        interval = "5s"
      }

      check {
        name     = "live"
        type     = "http"
        port     = "health"
        path     = "/livez"
        timeout  = "3s"
        interval = "10s"

        # A restart after three checks in a row that did not pass, once the app has had time to start.
        check_restart {
          limit = 3
          grace = "30s"
        }
      }
    }

    task "my-app" {
      driver = "docker"
      config {
        image = "registry.example.com/my-app:1.0.0"
        ports = ["grpc", "health"]
      }
    }
  }
}
