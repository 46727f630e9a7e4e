package detect

import "testing"

func FuzzDartSource(f *testing.F) {
	f.Add([]byte("import 'package:grpc/grpc.dart';\nfinal port = 1;\nfinal s = Server.create(services: []);\ns.serve(port: port);\n"))
	f.Add([]byte("class A extends BServiceBase { f(ServiceCall c) => r'\\' + '''${x('}')}''' /* /* */ */; }\n"))
	f.Fuzz(func(t *testing.T, text []byte) { checkSigns(t, text, dartSource(text)) })
}
