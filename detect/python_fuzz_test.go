package detect

import "testing"

func FuzzPythonSource(f *testing.F) {
	f.Add([]byte("import grpc as g\nPORT = 50051\nserver = g.server(None)\nserver.add_insecure_port(f'[::]:{PORT}')\n"))
	f.Add([]byte("from x_pb2_grpc import (A as B, *)\nclass C(B.AServicer):\n    '''grpc\n"))
	f.Add([]byte("import grpc\ns = grpc.server()\ns.add_secure_port('%s:%d' % (a, b))\na = b\nb = a\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) <= maxSourceBytes {
			insideTheFile(t, text, pythonSource(text))
		}
	})
}
