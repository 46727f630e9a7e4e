// Command server is a small gRPC app to try health probes on: HTTP requests change the health service's answer and stop
// the gRPC server, as with the grpc-health-checking test app of Kubernetes.
//
//	GET /make-serving      the health service answers SERVING
//	GET /make-not-serving  the health service answers NOT_SERVING
//	GET /stop-grpc         the gRPC server stops and closes its port; HTTP goes on
//
// With ?service=NAME the first two requests change a single service. Flags require TLS, a client's certificate, an
// authorization.
//
// The first line on standard output is JSON with the listening addresses:
// {"grpc":"[::]:5000","http":"[::]:8080"}.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

var (
	grpcAddr = flag.String("grpc", ":5000", "address to serve gRPC on")
	httpAddr = flag.String("http", ":8080", "address to serve HTTP on")
	service  = flag.String("service", "", "names of services that the health service answers for too: a,b")
	noHealth = flag.Bool("no-health", false, "leave the health service out")
	stays    = flag.Bool("ignore-sigterm", false, "do not end on SIGTERM")
)

func main() {
	flag.Parse()
	if *stays {
		signal.Ignore(syscall.SIGTERM)
	}
	if err := serve(); err != nil {
		log.Fatalf("error: %v", err)
	}
}

// serve answers on both addresses until HTTP fails; a stopped gRPC server does not end serve.
func serve() error {
	time.Sleep(*delay)
	grpcListener, err := net.Listen(*network, *grpcAddr)
	if err != nil {
		return fmt.Errorf("listening for gRPC: %w", err)
	}
	httpListener, err := net.Listen("tcp", *httpAddr)
	if err != nil {
		return fmt.Errorf("listening for HTTP: %w", err)
	}

	options, err := serverOptions()
	if err != nil {
		return err
	}
	server, status := grpc.NewServer(options...), health.NewServer()
	for _, name := range services() {
		status.SetServingStatus(name, healthpb.HealthCheckResponse_SERVING)
	}
	if !*noHealth {
		healthpb.RegisterHealthServer(server, status)
	}
	status.SetServingStatus("", healthpb.HealthCheckResponse_SERVING)
	go func() {
		if err := server.Serve(grpcListener); err != nil {
			log.Fatalf("error: serving gRPC: %v", err)
		}
	}()
	if !*stays {
		go stopOnSignal(server, status)
	}

	listening := map[string]string{"grpc": grpcListener.Addr().String(), "http": httpListener.Addr().String()}
	if err := json.NewEncoder(os.Stdout).Encode(listening); err != nil {
		return fmt.Errorf("announcing the addresses: %w", err)
	}
	control := http.Server{Handler: controls(server, status), ReadHeaderTimeout: 10 * time.Second}
	return control.Serve(httpListener)
}

// services returns the names known to the health service; the empty name is the whole server.
func services() []string {
	return append(strings.Split(*service, ","), "")
}

// controls returns the HTTP side.
func controls(server *grpc.Server, status *health.Server) http.Handler {
	set := func(to healthpb.HealthCheckResponse_ServingStatus) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			names := services()
			if one := r.FormValue("service"); one != "" {
				names = []string{one}
			}
			for _, name := range names {
				status.SetServingStatus(name, to)
			}
			fmt.Fprintln(w, to)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/make-serving", set(healthpb.HealthCheckResponse_SERVING))
	mux.HandleFunc("/make-not-serving", set(healthpb.HealthCheckResponse_NOT_SERVING))
	mux.HandleFunc("/stop-grpc", func(w http.ResponseWriter, _ *http.Request) {
		server.Stop()
		fmt.Fprintln(w, "gRPC server stopped")
	})
	mux.Handle("/leak", new(leak))
	return mux
}
