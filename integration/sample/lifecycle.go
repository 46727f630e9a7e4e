package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
)

var (
	delay   = flag.Duration("delay", 0, "time to start, before it listens for gRPC")
	network = flag.String("network", "tcp", "network of -grpc: tcp or unix")
)

// graceful is the time for open calls to end after a request to stop.
const graceful = 5 * time.Second

// stopOnSignal lets open calls end after SIGTERM: the health service says NOT_SERVING from then on, clients are told to
// go elsewhere, and open calls are finished.
// The health service's streams end only with the server.
func stopOnSignal(server *grpc.Server, status *health.Server) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	<-asked
	status.Shutdown()
	time.AfterFunc(graceful, server.Stop)
	server.GracefulStop()
	log.Print("stopped")
	os.Exit(0)
}

// leak is memory that the app never gives back: each request takes 2 MiB more.
type leak struct {
	mutex sync.Mutex
	kept  [][]byte
}

func (l *leak) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.kept = append(l.kept, bytes.Repeat([]byte{1}, 2<<20))
	fmt.Fprintln(w, len(l.kept))
}
