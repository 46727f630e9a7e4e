package detect

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/detect/tree/target"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// languageOf has the languages of the servers in these tests, by the extensions of their files.
var languageOf = map[string]string{
	".go": "go", ".java": "java", ".kt": "kotlin", ".scala": "scala", ".cs": "csharp", ".ts": "typescript",
	".js": "node", ".py": "python", ".rb": "ruby", ".rs": "rust", ".dart": "dart",
}

const notKnown = ": whether the app serves gRPC, and where, is not known"

type app struct {
	servers string
	environ map[string]string
	files   map[string]string
	want    string
}

// Each case has an app, as the paths of what makes its servers, with the program after "<-" if that is known; what the
// files and the environment say; and the server that they name with who says so, and what there is to tell.
var cases = map[string]app{
	"nothing said": {servers: "a/main.go b/main.go"},
	"a Go target": {
		servers: "cmd/a/main.go cmd/b/main.go", environ: env("BP_GO_TARGETS", "./cmd/b"),
		want: "cmd/b/main.go: $BP_GO_TARGETS",
	},
	"a program that npm starts beside a crate": {
		servers: "aside/src/main.rs lib/main.ts",
		files:   env("package.json", `{"scripts": {"start": "node bin/shopd"}}`, "aside/Cargo.toml", ""),
		want:    "lib/main.ts: the script start of package.json",
	},
	"a script that another one runs": {
		servers: "a/src/main.rs src/a.ts src/b.ts",
		files:   env("package.json", `{"scripts": {"start": "npm run prod", "prod": "tsx src/b.ts"}}`),
		want:    "src/b.ts: the script start of package.json",
	},
	"a process before npm": {
		servers: "a/main.rb src/main.ts",
		files:   env("package.json", `{"scripts": {"start": "node ."}}`, "Procfile", "web: bundle exec ruby a/main.rb"),
		want:    "a/main.rb: the process web of the Procfile",
	},
	"npm in a Dockerfile": {
		servers: "a/src/main.rs src/main.ts",
		files:   env("Dockerfile", "FROM node\nCMD [\"npm\", \"run\", \"serve\"]\n"),
		want:    "src/main.ts: the Dockerfile",
	},
	"a jar in a Dockerfile": {
		servers: "a/src/main.rs src/main/java/A.java",
		files:   env("Dockerfile", "FROM openjdk\nENTRYPOINT [\"java\", \"-jar\", \"/opt/all.jar\"]\n"),
		want:    "src/main/java/A.java: the Dockerfile",
	},
	"npm that starts no server": {
		servers: "a/main.go services/b/main.ts",
		files: env("package.json", `{"scripts": {"start": "node web/index.js"}}`, "web/index.js", "",
			"services/b/package.json", "{}"),
	},
	"a package.json whose scripts are none": {
		servers: "a/main.go b/main.go", files: env("package.json", `{"scripts": {"start": 1}}`),
	},
	"a program that CMake makes": {
		servers: "src/a/main.cc<-orders src/b/main.cc<-stock_server",
		files:   env("Procfile", "web: ./build/stock_server"),
		want:    "src/b/main.cc: the process web of the Procfile",
	},
	"the first of several that serves": {
		servers: "cmd/a/main.go cmd/b/main.go", environ: env("BP_GO_TARGETS", "./cmd/gateway:./cmd/b/:./cmd/a"),
		want: "cmd/b/main.go: $BP_GO_TARGETS",
	},
	"a program whose server is in a library": {
		servers: "internal/a.go<-cmd/a internal/b.go<-cmd/c,cmd/b", environ: env("BP_GO_TARGETS", "./cmd/b"),
		want: "internal/b.go: $BP_GO_TARGETS",
	},
	"a path that only begins like another": {
		servers: "cmd/b2/main.go", environ: env("BP_GO_TARGETS", "./cmd/b"),
		want: `$BP_GO_TARGETS names "./cmd/b", which does not exist`,
	},
	"a target without a server": {
		servers: "cmd/a/main.go", environ: env("BP_GO_TARGETS", "./web"), files: env("web/index.html", ""),
		want: `$BP_GO_TARGETS names "./web", where no gRPC server is found` + notKnown,
	},
	"all packages": {servers: "cmd/a/main.go", environ: env("BP_GO_TARGETS", "./...")},
	"the app's folder": {
		servers: "cmd/a/main.go main.go", environ: env("BP_GO_TARGETS", "."), want: "main.go: $BP_GO_TARGETS",
	},
	"packages of another language": {
		servers: "cmd/a/main.go cmd/b/main.py", environ: env("BP_GO_TARGETS", "./cmd/b"),
		files: env("cmd/b/main.py", ""),
		want:  `$BP_GO_TARGETS names "./cmd/b", where no gRPC server is found` + notKnown,
	},
	"an import path": {
		servers: "cmd/a/main.go cmd/b/main.go", environ: env("GO_INSTALL_PACKAGE_SPEC", "example.com/org/app/cmd/b"),
		want: "cmd/b/main.go: $GO_INSTALL_PACKAGE_SPEC",
	},
	"an App Engine main": {
		servers: "cmd/a/main.go cmd/b/main.go", environ: env("GAE_YAML_MAIN", "./cmd/b"),
		want: "cmd/b/main.go: $GAE_YAML_MAIN",
	},
	"a folder of Go": {
		servers: "a/main.go b/cmd/main.go", environ: env("BP_GO_WORKDIR", "b"), want: "b/cmd/main.go: $BP_GO_WORKDIR",
	},
	"a comment of Heroku": {
		servers: "cmd/a/main.go cmd/b/main.go",
		files:   env("go.mod", "module m\n\n// +heroku install ./cmd/b ./cmd/tool\n"),
		want:    "cmd/b/main.go: +heroku install in go.mod",
	},
	"a Maven module": {
		servers: "a/src/main/java/A.java b/src/main/java/B.java b/load.js", environ: env("BP_MAVEN_BUILT_MODULE", "b"),
		want: "b/src/main/java/B.java: $BP_MAVEN_BUILT_MODULE",
	},
	"an artifact of Maven": {
		servers: "a/A.java b/B.java", environ: env("BP_MAVEN_BUILT_ARTIFACT", "b/target/*.jar"),
		want: "b/B.java: $BP_MAVEN_BUILT_ARTIFACT",
	},
	"an artifact of the only module": {
		servers: "src/A.java",
		environ: env("BP_MAVEN_BUILT_ARTIFACT", "target/*.[ejw]ar"),
	},
	"a pom": {
		servers: "a/A.java b/B.java", environ: env("BP_MAVEN_POM_FILE", "b/pom.xml"),
		want: "b/B.java: $BP_MAVEN_POM_FILE",
	},
	"a project of Maven's arguments": {
		servers: "a/A.java b/B.java", environ: env("BP_MAVEN_BUILD_ARGUMENTS", "-pl b -am package"),
		want: "b/B.java: $BP_MAVEN_BUILD_ARGUMENTS",
	},
	"a project of more arguments": {
		servers: "a/A.java b/B.java", environ: env("BP_MAVEN_ADDITIONAL_BUILD_ARGUMENTS", "--projects=:b"),
		want: "b/B.java: $BP_MAVEN_ADDITIONAL_BUILD_ARGUMENTS",
	},
	"a project of Heroku's Maven": {
		servers: "a/A.java b/B.java", environ: env("MAVEN_CUSTOM_OPTS", "-pl b"), want: "b/B.java: $MAVEN_CUSTOM_OPTS",
	},
	"arguments that name no project": {
		servers: "a/A.java",
		environ: env("BP_MAVEN_BUILD_ARGUMENTS", "-Dtest=a:b package"),
	},
	"a Gradle module": {
		servers: "a/A.kt b/B.kt", environ: env("BP_GRADLE_BUILT_MODULE", "b"), want: "b/B.kt: $BP_GRADLE_BUILT_MODULE",
	},
	"an artifact of Gradle": {
		servers: "a/A.kt b/B.kt", environ: env("BP_GRADLE_BUILT_ARTIFACT", "b/build/libs/*.jar"),
		want: "b/B.kt: $BP_GRADLE_BUILT_ARTIFACT",
	},
	"a build file": {
		servers: "a/A.kt b/B.kt", environ: env("BP_GRADLE_BUILD_FILE", "b/build.gradle.kts"),
		want: "b/B.kt: $BP_GRADLE_BUILD_FILE",
	},
	"a task of Gradle": {
		servers: "a/A.kt b/c/B.kt", environ: env("BP_GRADLE_BUILD_ARGUMENTS", "--no-daemon :b:c:bootJar"),
		want: "b/c/B.kt: $BP_GRADLE_BUILD_ARGUMENTS",
	},
	"a task of Heroku's Gradle": {
		servers: "a/A.kt b/B.kt", environ: env("GRADLE_TASK", ":b:stage"), want: "b/B.kt: $GRADLE_TASK",
	},
	"an sbt module": {
		servers: "a/A.scala b/B.scala", environ: env("BP_SBT_BUILT_MODULE", "b"),
		want: "b/B.scala: $BP_SBT_BUILT_MODULE",
	},
	"an artifact of sbt": {
		servers: "a/A.scala b/B.scala", environ: env("BP_SBT_BUILT_ARTIFACT", "b/target/universal/*.zip"),
		want: "b/B.scala: $BP_SBT_BUILT_ARTIFACT",
	},
	"a project of .NET": {
		servers: "src/A/Program.cs src/B/Program.cs", environ: env("BP_DOTNET_PROJECT_PATH", "./src/B"),
		want: "src/B/Program.cs: $BP_DOTNET_PROJECT_PATH",
	},
	"a folder of Node": {
		servers: "a/index.js b/src/index.ts", environ: env("BP_NODE_PROJECT_PATH", "b"),
		want: "b/src/index.ts: $BP_NODE_PROJECT_PATH",
	},
	"a launch point": {
		servers: "a/index.js b/src/index.ts", environ: env("BP_LAUNCHPOINT", "./b/dist/index.js"),
		want: "b/src/index.ts: $BP_LAUNCHPOINT",
	},
	"a crate": {
		servers: "crates/one/src/main.rs crates/two/src/main.rs", environ: env("BP_CARGO_WORKSPACE_MEMBERS", "app-two"),
		files: env("crates/two/Cargo.toml", "[package]\nversion = '1.0.0'\nname = \"app-two\"\n"),
		want:  "crates/two/src/main.rs: $BP_CARGO_WORKSPACE_MEMBERS",
	},
	"the crate of the app's folder": {
		servers: "crates/one/src/main.rs src/main.rs", environ: env("BP_CARGO_WORKSPACE_MEMBERS", "app"),
		files: env("Cargo.toml", "[workspace]\n[package]\nname = 'app'\n"),
		want:  "src/main.rs: $BP_CARGO_WORKSPACE_MEMBERS",
	},
	"a crate that is not there": {
		servers: "src/main.rs", environ: env("BP_CARGO_WORKSPACE_MEMBERS", "two"),
		want: `$BP_CARGO_WORKSPACE_MEMBERS names "two", which does not exist`,
	},
	"a path of Cargo": {
		servers: "a/src/main.rs b/src/main.rs", environ: env("BP_CARGO_INSTALL_ARGS", "--path=./b --locked"),
		want: "b/src/main.rs: $BP_CARGO_INSTALL_ARGS",
	},
	"what Google builds": {
		servers: "a/main.go b/Program.cs", environ: env("GOOGLE_BUILDABLE", "b/app.csproj"),
		want: "b/Program.cs: $GOOGLE_BUILDABLE",
	},
	"a Go package that Google builds": {
		servers: "cmd/a/main.go cmd/b/main.go", environ: env("GOOGLE_BUILDABLE", "example.com/app/cmd/b"),
		want: "cmd/b/main.go: $GOOGLE_BUILDABLE",
	},
	"the folder of the app": {servers: "cmd/a/main.go", environ: env("GOOGLE_BUILDABLE", ".")},
	"a module of Google's arguments": {
		servers: "a/A.java b/B.java", environ: env("GOOGLE_BUILD_ARGS", "-pl=b -am"),
		want: "b/B.java: $GOOGLE_BUILD_ARGS",
	},
	"an entry point": {
		servers: "a/server.py b/server.py", environ: env("GOOGLE_ENTRYPOINT", "python -m b.server"),
		want: "b/server.py: $GOOGLE_ENTRYPOINT",
	},
	"a default process": {
		servers: "a/server.rb b/server.rb", environ: env("BP_PROCFILE_DEFAULT_PROCESS", "bundle exec ruby b/server.rb"),
		want: "b/server.rb: $BP_PROCFILE_DEFAULT_PROCESS",
	},
	"project.toml": {
		servers: "cmd/a/main.go cmd/b/main.go",
		files:   env("project.toml", "[[io.buildpacks.build.env]]\nname = 'BP_GO_TARGETS'\nvalue = './cmd/b'\n"),
		want:    "cmd/b/main.go: $BP_GO_TARGETS in project.toml",
	},
	"project.toml of an older schema": {
		servers: "cmd/a/main.go cmd/b/main.go",
		files:   env("project.toml", "[[build.env]]\nname = 'BP_GO_TARGETS'\nvalue = './cmd/b'\n"),
		want:    "cmd/b/main.go: $BP_GO_TARGETS in project.toml",
	},
	"the environment before project.toml": {
		servers: "cmd/a/main.go cmd/b/main.go", environ: env("BP_GO_TARGETS", "cmd/a"),
		files: env("project.toml", "[[io.buildpacks.env.build]]\nname = 'BP_GO_TARGETS'\nvalue = './cmd/b'\n"),
		want:  "cmd/a/main.go: $BP_GO_TARGETS",
	},
	"a Procfile": {
		servers: "a/main.go b/main.go", files: env("Procfile", "web: FOO=1 /workspace/bin/b -port 1\nworker: a\n"),
		want: "b/main.go: the process web of the Procfile",
	},
	"a process grpc": {
		servers: "a/main.go b/main.go", files: env("Procfile", "web: npm start\ngrpc: ./b\nworker: a\n"),
		want: "b/main.go: the process grpc of the Procfile",
	},
	"one process": {
		servers: "a/main.go b/main.go", files: env("Procfile", "server: b\n"), want: "b/main.go: the Procfile",
	},
	"a class": {
		servers: "src/main/java/app/A.java src/main/java/app/hello/Server.java src/main/java/app/Server.java",
		files:   env("Procfile", "web: java -cp 'build/libs/*' app.hello.Server\n"),
		want:    "src/main/java/app/hello/Server.java: the process web of the Procfile",
	},
	"a class of Kotlin": {
		servers: "src/app/A.kt src/app/Server.kt", files: env("Procfile", "web: java -cp app.jar app.ServerKt\n"),
		want: "src/app/Server.kt: the process web of the Procfile",
	},
	"a source of Python": {
		servers: "a.py async_server.py server.py", files: env("Procfile", "web: python3 async_server.py --port 1\n"),
		want: "async_server.py: the process web of the Procfile",
	},
	"a source of Ruby": {
		servers: "a/error_server.rb greeter_server.rb", files: env("Procfile", "web: ruby greeter_server.rb\n"),
		want: "greeter_server.rb: the process web of the Procfile",
	},
	"processes that do not serve":  {servers: "a/main.go b/main.go", files: env("Procfile", "worker: b\nrelease: a\n")},
	"a process that names nothing": {servers: "a/main.go", files: env("Procfile", "web: npm 'start\n")},
	"a command that ends with cd": {
		servers: "a/index.js b/lib/server.js", files: env("Procfile", "web: npm start --prefix b && cd\n"),
		want: "b/lib/server.js: the process web of the Procfile",
	},
	"a folder that a process enters": {
		servers: "a/index.js b/lib/server.js", files: env("Procfile", "web: cd b && npm start\n"),
		want: "b/lib/server.js: the process web of the Procfile",
	},
	"what is built in a folder": {
		servers: "a/src/main/java/A.java b/src/main/java/B.java",
		files:   env("Procfile", "web: java -jar b/target/app.jar\n"),
		want:    "b/src/main/java/B.java: the process web of the Procfile",
	},
	"a start script in a folder of several": {
		servers: "server/src/A.kt server/src/HelloServer.kt",
		files:   env("Procfile", "web: server/build/install/server/bin/hello-server\n"),
		want:    "server/src/HelloServer.kt: the process web of the Procfile",
	},
	"an assembly": {
		servers: "src/A/Program.cs src/Shop.B/Program.cs", files: env("Procfile", "web: dotnet out/Shop.B.dll\n"),
		want: "src/Shop.B/Program.cs: the process web of the Procfile",
	},
	"a module of Python": {
		servers: "a/server.py b/grpc/server.py", files: env("Procfile", "web: python -m b.grpc\n"),
		want: "b/grpc/server.py: the process web of the Procfile",
	},
	"a file beside": {
		servers: "a/server.js b/lib/server.js", files: env("Procfile", "web: node b/index.js\n"),
		want: "b/lib/server.js: the process web of the Procfile",
	},
	"the program that is started of those that are built": {
		servers: "cmd/a/main.go cmd/b/main.go cmd/c/main.go", environ: env("BP_GO_TARGETS", "./cmd/a:./cmd/b"),
		files: env("Procfile", "web: b\n"), want: "cmd/b/main.go: the process web of the Procfile",
	},
	"a program that is started and not built": {
		servers: "cmd/a/main.go cmd/c/main.go", environ: env("BP_GO_TARGETS", "./cmd/a"),
		files: env("Procfile", "web: c\n"), want: "cmd/a/main.go: $BP_GO_TARGETS",
	},
	"a script without a server beside two servers": {
		servers: "a/serve.py b/serve.py", files: env("Procfile", "web: python web.py\n", "web.py", ""),
		want: `the process web of the Procfile names "web.py", where no gRPC server is found` + notKnown,
	},
	"a script that may use the only server": {
		servers: "a/serve.py", files: env("Procfile", "web: python web.py\n", "web.py", ""),
	},
	"a script without a server, and one with a server": {
		servers: "a/serve.py b/serve.py",
		files:   env("Procfile", "web: python web.py\ngrpc: python b/serve.py\n", "web.py", ""),
		want:    "b/serve.py: the process grpc of the Procfile",
	},
	"a program of a crate": {
		servers: "src/a/server.rs src/b/server.rs",
		files: env(
			"Cargo.toml", "[package]\nname = \"m\"\n\n[[bin]]\nname = \"b-server\"\npath = \"src/b/server.rs\"\n",
			"Procfile", "web: target/release/b-server\n",
		),
		want: "src/b/server.rs: the process web of the Procfile",
	},
	"outside of the app": {servers: "a/main.go", environ: env("BP_NODE_PROJECT_PATH", "../a")},
	"no servers":         {environ: env("BP_GO_TARGETS", "./cmd/b")},
}

// env returns variables or files, each by its name and what it holds.
func env(pairs ...string) map[string]string {
	all := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = pairs[i+1]
	}
	return all
}

func TestTheBuildNamesTheServer(t *testing.T) {
	t.Parallel()
	all := maps.Clone(cases)
	maps.Copy(all, documents)
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := newScan(languages, nil).files
			for file, text := range c.files {
				visit(t, files, file, text)
			}
			servers := readServers(c.servers)
			exists := func(dir string) bool {
				isIn := func(file string) bool { return tree.IsWithin(file, dir) }
				return slices.ContainsFunc(slices.Collect(maps.Keys(c.files)), isIn)
			}
			got := target.Mark(servers, files.Targets(func(name string) string { return c.environ[name] }), exists)
			for _, s := range servers {
				if by := s.BuiltBy + s.ShownBy; by != "" {
					got = append(got, s.Evidence.Path+": "+by)
				}
			}
			if got := strings.Join(got, ", "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func visit(t *testing.T, files *target.Files, file, text string) {
	t.Helper()
	if !files.Required(file) {
		return
	}
	if err := files.Visit(tree.NewText(file, []byte(text))); err != nil {
		t.Fatal(err)
	}
}

func readServers(text string) []plan.Server {
	var servers []plan.Server
	for field := range strings.FieldsSeq(text) {
		file, programs, hasPrograms := strings.Cut(field, "<-")
		s := plan.Server{Language: languageOf[path.Ext(file)], Evidence: plan.Place{Path: file, Line: 1}}
		if hasPrograms {
			s.Programs = strings.Split(programs, ",")
		}
		servers = append(servers, s)
	}
	return servers
}

// Every variable of the table has a case.
func TestEachVariableIsTried(t *testing.T) {
	t.Parallel()
	variables := target.Common.Variables
	for _, a := range languages {
		variables = slices.Concat(variables, a.Language().Toolchain.Variables)
	}
	for _, v := range variables {
		if !slices.ContainsFunc(slices.Collect(keys), func(name string) bool { return name == v.Name }) {
			t.Errorf("no case sets $%s", v.Name)
		}
		if v.Source == "" {
			t.Errorf("$%s has no source", v.Name)
		}
	}
}

// keys yields the variables that a case sets and whose server is named by them.
func keys(yield func(string) bool) {
	for _, c := range cases {
		for name := range c.environ {
			if strings.HasSuffix(c.want, ": $"+name) && !yield(name) {
				return
			}
		}
	}
}

func TestProjectTOMLThatIsNone(t *testing.T) {
	t.Parallel()
	if err := target.NewFiles().Visit(tree.NewText("project.toml", []byte("= 1"))); err == nil {
		t.Error("it was read")
	}
}

// An app may have any number of servers, and project.toml may name any number of modules: without bounds, comparing
// each with each would take longer than a test may.
func TestManyModulesCostLittle(t *testing.T) {
	t.Parallel()
	value := strings.Repeat("./cmd/b:", 30_000)
	project := "[[build.env]]\nname = 'BP_GO_TARGETS'\nvalue = '" + value + "'\n"
	files := newScan(languages, nil).files
	visit(t, files, "project.toml", project)
	visit(t, files, "Procfile", "web: "+strings.Repeat("a/b ", 100_000)+"\n")
	servers := readServers(strings.Repeat("cmd/a/main.go ", 20_000))
	notes := target.Mark(servers, files.Targets(func(string) string { return "" }), func(string) bool { return true })
	if len(notes) != 1 || len(notes[0]) > 300 {
		t.Errorf("it says %.1000q", notes)
	}
}
