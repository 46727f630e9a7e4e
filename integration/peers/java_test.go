package peers

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// jars are the class path, Debian's jars by package.
var jars = map[string][]string{
	"libgrpc-java":           {"grpc-api", "grpc-core", "grpc-context", "grpc-netty", "grpc-stub"},
	"libguava-java":          {"guava"},
	"libperfmark-java":       {"perfmark-api"},
	"libnetty-tcnative-java": {"netty-tcnative"},
	"libnetty-java": {
		"netty-buffer", "netty-codec", "netty-codec-http", "netty-codec-http2", "netty-common",
		"netty-handler", "netty-resolver", "netty-transport",
	},
}

func jarPath(name string) string { return "/usr/share/java/" + name + ".jar" }

func javaNeeds() map[string]string {
	needs := map[string]string{"javac": "default-jdk-headless"} // java runs a source file if it can compile it
	for pkg, names := range jars {
		needs[jarPath(names[0])] = pkg
	}
	return needs
}

func startJava(t *testing.T) map[string]string {
	var classPath []string
	for _, names := range jars {
		for _, name := range names {
			classPath = append(classPath, jarPath(name))
		}
	}
	return startProgram(t, "java", "-XX:TieredStopAtLevel=1", "-Djava.library.path="+nativeTLS(t),
		"-cp", strings.Join(classPath, ":"), "testdata/Server.java", certPath, keyPath)
}

// nativeTLS returns a folder with a copy of Netty's native TLS under the name that Netty looks for, which is not the
// one that Debian gives it. (The JDK's TLS is no way out: Debian's Netty is built without its ALPN.)
func nativeTLS(t *testing.T) string {
	t.Helper()
	found, err := filepath.Glob("/usr/lib/*/jni/libnetty-tcnative.so")
	if err != nil || len(found) != 1 {
		t.Fatalf("looking for Netty's native TLS: found %q, error %v", found, err)
	}
	library, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "libnetty_tcnative.so"), library, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}
