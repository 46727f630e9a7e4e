package detect

// Each app has a document that starts one of its programs.
var documents = map[string]app{
	"the command of an image": {
		servers: "cmd/a/main.go cmd/b/main.go",
		files:   env("Dockerfile", "FROM x\nENTRYPOINT [\"/usr/bin/b\", \"-v\"]\n"),
		want:    "cmd/b/main.go: the Dockerfile",
	},
	"the command of the last image": {
		servers: "a/serve.py b/serve.py",
		files:   env("Dockerfile", "FROM x AS t\nCMD [\"python\", \"a/serve.py\"]\nFROM x\nCMD python -m b.serve\n"),
		want:    "b/serve.py: the Dockerfile",
	},
	"what a program of an image is made of": {
		servers: "cmd/a/main.go cmd/b/main.go",
		files: env("Dockerfile", "FROM x AS made\nRUN go build -o /out/tool ./cmd/a && \\\n"+
			"  go build -o /out/app ./cmd/b\nFROM y\nCOPY --from=made /out/app /server\nENTRYPOINT [\"/server\"]\n"),
		want: "cmd/b/main.go: the Dockerfile",
	},
	"what a README starts first": {
		servers: "src/a/server.rs src/b/server.rs",
		files: env(
			"Cargo.toml", "[[bin]]\nname = \"b-server\"\npath = \"src/b/server.rs\"\n"+
				"[[bin]]\nname = \"b-client\"\npath = \"src/b/client.rs\"\n",
			"README.md", "# b\n\n```sh\n$ cargo run --bin b-client\n$ cargo run --bin b-server\n```\n"+
				"`cargo run --bin a-server` starts the other.\n",
		),
		want: "src/b/server.rs: README.md",
	},
	"a class that a README starts": {
		servers: "src/main/scala/a/A.scala src/main/scala/a/B.scala",
		files:   env("README.rst", "    sbt \"runMain a.B\"\n"), want: "src/main/scala/a/B.scala: README.rst",
	},
	"a project that a README starts": {
		servers: "a/A.cs b/B.cs", files: env("README", "dotnet run --project b/B.csproj\n"), want: "b/B.cs: README",
	},
	"a README of another folder": {
		servers: "a/serve.py b/serve.py", files: env("b/README.md", "python b/serve.py\n"),
	},
}
