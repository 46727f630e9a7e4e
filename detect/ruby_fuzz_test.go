package detect

import (
	"bytes"
	"testing"
)

func FuzzRubySource(f *testing.F) {
	f.Add([]byte("PORT = 1\ns = GRPC::RpcServer.new\ns.add_http2_port(\"[::]:#{PORT}\", :x)\nputs <<~A, <<-'B'\nA\nB\n"))
	f.Add([]byte("=begin\n=end\nx = ?\" / 2 % %w(a (b)) =~ /#{x}/\nclass A < B::Service\nend\n__END__\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) <= maxSourceBytes {
			insideTheFile(t, text, rubySource(text))
			rubyStubs(text)
		}
	})
}

// insideTheFile fails where a sign names a line that its file does not have.
func insideTheFile(t *testing.T, text []byte, said *sheet) {
	t.Helper()
	if said == nil {
		return
	}
	lines := bytes.Count(text, []byte("\n")) + 1
	for _, s := range said.signs {
		if s.line < 1 || s.line > lines {
			t.Errorf("sign %+v in a file of %d lines", s, lines)
		}
	}
}
