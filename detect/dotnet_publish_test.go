package detect_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// What an assembly calls stands in its #Strings heap, between NUL bytes.
func TestPublishFoldersGiveTheirServices(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		deps  string
		calls []string
		want  string
	}{
		"server":       {deps("Grpc.AspNetCore.Server/2.60.0"), []string{"MapGrpcService"}, "C#, Grpc.AspNetCore (App.deps.json); health service not registered; port 5001\n"},
		"healthy":      {deps("Grpc.AspNetCore.Server/2.60.0"), []string{"MapGrpcService", "MapGrpcHealthChecksService"}, "C#, Grpc.AspNetCore (App.deps.json); health service registered (App.deps.json); port 5001\n"},
		"F#":           {strings.Replace(deps("Grpc.AspNetCore.Server/2.60.0"), `"Grpc`, `"FSharp.Core": "9.0.0", "Grpc`, 1), []string{"MapGrpcService"}, "F#, Grpc.AspNetCore (App.deps.json); health service not registered; port 5001\n"},
		"code first":   {deps("Grpc.AspNetCore.Server/2.60.0"), []string{"AddCodeFirstGrpc", "MapGrpcService"}, "C#, protobuf-net.Grpc (App.deps.json); health service not registered; port 5001\n"},
		"Grpc.Core":    {deps("Grpc.Core/2.46.0"), []string{"Grpc.Core", "ServerPort"}, "C#, Grpc.Core (App.deps.json); health service not registered\n"},
		"client":       {deps("Grpc.Net.Client/2.60.0"), []string{"GrpcChannel", "ServerPort"}, ""},
		"only linked":  {deps("Grpc.AspNetCore.Server/2.60.0"), []string{"GrpcChannel", "TryMapGrpcServices"}, ""},
		"test":         {deps("Grpc.AspNetCore.Server/2.60.0", "xunit.core/2.9.0"), []string{"MapGrpcService"}, ""},
		"damaged":      {`{"targets": [`, []string{"MapGrpcService"}, ""},
		"out of place": {strings.ReplaceAll(deps("Grpc.AspNetCore.Server/2.60.0"), "App.dll", "../App.dll"), []string{"GrpcChannel"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, filepath.Join(dir, "App.deps.json"), c.deps)
			write(t, filepath.Join(dir, "App.dll"), "MZ\x00\x00"+strings.Join(c.calls, "\x00")+"\x00")
			write(t, filepath.Join(dir, "Grpc.AspNetCore.Server.dll"), "MZ\x00MapGrpcService\x00")
			write(t, filepath.Join(dir, "appsettings.json"), `{"Kestrel": {"Endpoints": {"Http": {"Url": "http://+:5001"}}}}`)
			if got := describe(tree(t, dir)); got != c.want {
				t.Errorf("found:\n%swant:\n%s", got, c.want)
			}
		})
	}
}

// Sources lead, and what is built of them is no service of its own.
func TestDotnetSourcesLeadBeforePublishFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "Shop/Program.cs"), "app.MapGrpcService<ShopService>();\n")
	write(t, filepath.Join(dir, "Shop/bin/Release/net8.0/publish/App.deps.json"), deps("Grpc.AspNetCore.Server/2.60.0"))
	write(t, filepath.Join(dir, "Shop/bin/Release/net8.0/publish/App.dll"), "\x00MapGrpcService\x00")
	want := "C#, Grpc.AspNetCore (Shop/Program.cs:1); health service not registered\n"
	if got := describe(tree(t, dir)); got != want {
		t.Errorf("found:\n%swant:\n%s", got, want)
	}
}

// deps is the list of dependencies of a program App, as the SDK writes it.
func deps(packages ...string) string {
	var needs, libraries []string
	for _, p := range packages {
		name, version, _ := strings.Cut(p, "/")
		needs = append(needs, fmt.Sprintf("%q: %q", name, version))
		libraries = append(libraries, fmt.Sprintf(`%q: {"type": "package"}`, p))
	}
	return fmt.Sprintf("\xef\xbb\xbf"+`{"targets": {".NETCoreApp,Version=v8.0": {"App/1.0.0": {"dependencies": {%s}, "runtime": {"App.dll": {}}}}},
		"libraries": {"App/1.0.0": {"type": "project"}, %s}}`, strings.Join(needs, ", "), strings.Join(libraries, ", "))
}
