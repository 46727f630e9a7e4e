package jvm

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/tree"
)

func TestApps(t *testing.T) { analyzertest.Apps(t, definition) }

func TestLayouts(t *testing.T) {
	analyzertest.Layouts(t, definition, grammars[".java"].Read, ".java")
}

func TestRepetitiveSources(t *testing.T) {
	analyzertest.Repetitive(t, definition, analyzertest.Repetition{
		Path: "A.java",
		Head: "import io.grpc.ServerBuilder; import akka.http.X; class A { Object s = ServerBuilder.forPort(a); }\n",
		Units: []string{
			"static final int A = A + A;\n", "import a.A;\n", "int a() { return A; }\n",
			"class A { int A = A; }\n", "int A = Integer.parseInt(System.getenv(\"A\"));\n", "{", "(",
			"Object s = ServerBuilder.forPort(A).build();\n", "void a(int A) { a(A); }\n", "this.A = A;\n",
			"ServerBuilder.forPort(", "int a = a;", "class A extends BGrpc.BImplBase {", "@GrpcService ", "\"\"\"",
			"import a.b.c;", "/*", "a.b.c.D.", "AHandler(", "int getPort() { return getPort();", "A(int a) {",
			"@Value(\"${a.b:80}\") int a;", "new A(80);", "static final int PORT = ", "class A {",
			"config.get(\"a.b\")", "@Option(names = \"-a\") int a = 1;", "@Option(",
			"a.setPort(80);", "new A(80).port(80).", "private int port = 80;", "port = 80;", "void a(int b) {",
			"addService(new AHealth()", "AHealth.a(builder)", "props.load(a); props.getProperty(\"a.b\", ",
		},
	}, analyzertest.Repetition{
		Path: "A.kt", Head: "import io.grpc.ServerBuilder\nval s = ServerBuilder.forPort(a)\n",
		Units: []string{
			"ServerBuilder.forPort(", "val a = a\n", "val a = a\n  ?: a\n", "val a by b(",
			"val a by option(\"-a\")", "val a by option(", "const val PORT = ",
			"class A(val a: Int) {", "a.port = 80\n", "A().apply { port = 80 ", "class A { var port = 80\n",
			"class A(var port: Int = 80) {", "fun a(port: Int) {", "override val port = 80\n",
			"class A : BGrpcKt.BCoroutineImplBase() {", "\"${", "/*",
		},
	}, analyzertest.Repetition{
		Path: "A.scala", Head: "import io.grpc.ServerBuilder\nval s = ServerBuilder.forPort(a)\n",
		Units: []string{
			"ServerBuilder.forPort(", "val a = a\n", "AGrpc.bindService(", "s\"${", "extends AbstractARouter ",
			"import a.{b,", "ConfigFactory.load(\"a\")", "ConfigFactory.load(a)\n", "ConfigFactory.parseString(\"a.b=",
			"config.getConfig(\"a\").", "val a = a.getConfig(\"a\")\n", "config.getConfig(\"a\").getInt(\"b\")\n",
		},
	}, analyzertest.Repetition{
		Path: "build.gradle", Head: "dependencies {\n",
		Units: []string{
			"exclude module: 'a' ", "constraints { ", "configurations.all { ", "a = 'b' ", "id 'a' version 'b' ",
			"implementation 'a:b:1' ", "group: 'a', name: 'b' ", "project(':a') ", "test ", "libs.a ", "'''", "/*",
		},
	}, analyzertest.Repetition{
		Path: "build.sbt", Head: "lazy val root = project\n",
		Units: []string{
			"\"a\" % \"b\" % \"c\" ", ".exclude(\"a\", \"b\")", "\"a\" % \"b\" % ", "\"a\" %% \"b\"\n", "s\"${", "/*",
		},
	}, analyzertest.Repetition{
		Path: "application.conf", Head: "a = 1\n",
		Units: []string{"a { ", "a.", "a = [", "[", "a = ${", "\"", "a = \"\"\"", "a=b,", "include \"a\"\n", "# a\n"},
	}, analyzertest.Repetition{
		Path: "resources/dubbo.xml", Head: "<dubbo:service/>\n",
		Units: []string{"<dubbo:protocol ", "<dubbo:protocol name=\"tri\" ", "<dubbo:service ", "<!--"},
	})
}

// FuzzSource analyzes any text as a file of any of the names that are read as text.
func FuzzSource(f *testing.F) {
	paths := []string{
		"A.java", "A.kt", "A.scala", "pom.xml", "build.gradle", "build.gradle.kts", "build.sbt", "x.versions.toml",
		"application.properties", "application.yml", "resources/dubbo.xml", "application.conf", "gradle.properties",
	}
	for i, text := range []string{
		"import io.grpc.ServerBuilder;\nint PORT = 5;\n" +
			"class A extends XGrpc.XImplBase { Object s = ServerBuilder.forPort(A.PORT); }",
		"import io.grpc.*\nclass A : XGrpcKt.XCoroutineImplBase()\nval p = \"${a[\"}\"]}\" ?: 5\n" +
			"val s = ServerBuilder.forPort(p)",
		"import io.grpc.ServerBuilder\nval c = 'c'; val s = s\"${1}\" /* /* */ */ ; XGrpc.bindService(x); " +
			"ServerBuilder.forPort(c)",
		"<project><artifactId> a</artifactId><dependencies><dependency><groupId>g</groupId><scope>test</scope>" +
			"</dependency></dependencies></project>",
		"plugins { id 'a.b' version '1' }\nallprojects { }\nimplementation group: 'a', name: 'b'\n" +
			"testImplementation project(':c')\napply from: 'x.gradle'",
		"implementation(libs.a.b)\nimplementation(projects.a)\nimplementation(\"a:b:1\")",
		"addSbtPlugin(\"a\" % \"b\" % \"1\")\n\"a\" %% \"b\" % \"1\" % Test",
		"[libraries]\na = \"b:c:1\"\nd = { module = \"e:f\" }\n[plugins]\ng = { id = \"h\" }\n" +
			"[bundles]\ni = [\"a\", \"z\"]",
		"grpc.server.port=${A:1}\n#---\nspring.config.activate.on-profile=a\ngrpc.port: 2",
		"grpc:\n  server:\n    port: 1 # a\n  - b: c\n---\ndubbo.protocol.name: \"tri\"",
		"import io.grpc.*;\nclass AServer { AServer(int port) { ServerBuilder.forPort(port); }\n" +
			"int getPort() { return B.PORT; } @Value(\"${a.b:80}\") int port; A x = new AServer(getPort()); }",
		"play.server { http.port = 80, https { port = ${?A} } } # b",
		"a=1\nmicronautVersion=${b}",
		"<!-- --><dubbo:protocol name=\"tri\" port=\"1\"/>\n<dubbo:service/>",
	} {
		f.Add(byte(i), []byte(text))
	}
	f.Fuzz(func(t *testing.T, which byte, text []byte) {
		result, err := definition.Analyze(tree.NewText(paths[int(which)%len(paths)], text))
		if result == nil {
			return
		}
		analyzertest.CheckPlaces(t, text, result.Findings)
		if err != nil && len(result.Findings) > 0 {
			t.Errorf("a file that is left out (%v) has findings %v", err, result.Findings)
		}
	})
}

// checkBuilt checks the findings in a class or a jar: each is in the whole file, which has no lines.
func checkBuilt(t *testing.T, result *analyzer.Result[extra]) {
	t.Helper()
	if result == nil {
		return
	}
	for _, f := range result.Findings {
		if finding.Where(f).Line != 0 {
			t.Errorf("a finding in a built file has a line: %+v", f)
		}
		if l, ok := f.(finding.Listener); ok && (l.Address.Port < 0 || l.Address.Port > 65535) {
			t.Errorf("a listener has port %d: %+v", l.Address.Port, f)
		}
	}
}
