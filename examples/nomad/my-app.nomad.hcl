# Nomad executes the check in the container and reports the result to Consul.
job "my-app" {
  group "my-app" {
    network {
      mode = "bridge"
      port "grpc" {
        to = 5000
      }
    }

    service {
      name = "my-app"
      port = "grpc"

      check {
        name    = "health"
        type    = "script"
        task    = "my-app"
        command = "/layers/grpc-cnb_health-probe/probe/bin/grpc_health_probe"
        # Above the probe's own: 2.9 s at most, with the search for the server.
        timeout  = "4s"
        interval = "5s"

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
        ports = ["grpc"]
      }
    }
  }
}
