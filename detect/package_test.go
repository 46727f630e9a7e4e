package detect_test

import (
	"fmt"
	"path/filepath"
	"testing"
)

// Several goroutines read a folder with many files, and each needs what the folder's other files declare. The race
// detector tells if they write the same memory.
func TestFilesOfAPackageAreReadAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/app\n\nrequire google.golang.org/grpc v1.80.0\n")
	write(t, filepath.Join(dir, "config.go"), "package main\n\nconst port, host = \"7001\", \"127.0.0.1\"\n\n"+
		"const address = host + \":\" + port\n")
	for i := range 200 {
		write(t, filepath.Join(dir, fmt.Sprintf("server%d.go", i)), fmt.Sprintf("package main\n\n"+
			"import (\n\t\"net\"\n\n\t\"google.golang.org/grpc\"\n)\n\nfunc serve%d() {\n"+
			"\tlis, _ := net.Listen(\"tcp\", address)\n\tgrpc.NewServer().Serve(lis)\n}\n", i))
	}
	servers := findServers(t, dir)
	if len(servers) == 0 {
		t.Error("no server is found")
	}
	for _, s := range servers {
		if port := s.Address.Local(); port != 7001 {
			t.Errorf("the server at %s is at %d, want 7001", s.Evidence, port)
		}
	}
}
