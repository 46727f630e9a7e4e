package detect

import "testing"

func FuzzJVMText(f *testing.F) {
	paths := []string{"A.java", "A.kt", "A.scala", "pom.xml", "build.gradle", "build.gradle.kts", "build.sbt", "x.versions.toml",
		"application.properties", "application.yml", "resources/dubbo.xml"}
	for i, text := range []string{
		"import io.grpc.ServerBuilder;\nint PORT = 5;\nclass A extends XGrpc.XImplBase { Object s = ServerBuilder.forPort(A.PORT); }",
		"import io.grpc.*\nclass A : XGrpcKt.XCoroutineImplBase()\nval p = \"${a[\"}\"]}\" ?: 5\nval s = ServerBuilder.forPort(p)",
		"import io.grpc.ServerBuilder\nval c = 'c'; val s = s\"${1}\" /* /* */ */ ; XGrpc.bindService(x); ServerBuilder.forPort(c)",
		"<project><artifactId> a</artifactId><dependencies><dependency><groupId>g</groupId><scope>test</scope></dependency></dependencies></project>",
		"plugins { id 'a.b' version '1' }\nallprojects { }\nimplementation group: 'a', name: 'b'\ntestImplementation project(':c')\napply from: 'x.gradle'",
		"implementation(libs.a.b)\nimplementation(projects.a)\nimplementation(\"a:b:1\")",
		"addSbtPlugin(\"a\" % \"b\" % \"1\")\n\"a\" %% \"b\" % \"1\" % Test",
		"[libraries]\na = \"b:c:1\"\nd = { module = \"e:f\" }\n[plugins]\ng = { id = \"h\" }\n[bundles]\ni = [\"a\", \"z\"]",
		"grpc.server.port=${A:1}\n#---\nspring.config.activate.on-profile=a\ngrpc.port: 2",
		"grpc:\n  server:\n    port: 1 # a\n  - b: c\n---\ndubbo.protocol.name: \"tri\"",
		"<!-- --><dubbo:protocol name=\"tri\" port=\"1\"/>\n<dubbo:service/>",
	} {
		f.Add(byte(i), []byte(text))
	}
	f.Fuzz(func(t *testing.T, which byte, text []byte) {
		said, _ := jvmText(paths[int(which)%len(paths)], text)
		checkSheet(t, said, text)
	})
}
