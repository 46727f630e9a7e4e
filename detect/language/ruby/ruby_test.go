package ruby

import (
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
	"github.com/grpc-cnb/health-probe/detect/source"
)

func TestApps(t *testing.T) { analyzertest.Apps(t, definition) }

func TestLayouts(t *testing.T) {
	analyzertest.Layouts(t, definition, func(text []byte) *source.Text { return grammarOf(text).Read(text) }, ".rb")
}

func TestRepetitiveSources(t *testing.T) {
	units := []string{
		"a = YAML.load_file(a)\n", "def a(b)\n  JSON.parse(File.read(b))\nend\n", "a = a(b)[:a]\n",
		"class A<B::Service\n", "<<~A\n<<~B\n", "%w( /a?\" ", "AnyCable.configure rpc_host\n", "module A\n# b\n",
		"s.add_http2_port(a\n", "a = a\n", "A = 50051\n", "A = A + A\n", "A = ENV[\"A\"] || A\n",
		"class A\nA = A\nend\n",
		"s.add_http2_port(A, b)\n", "[", "{", "A = B\nB = A\n", "a = a + a\n",
		"o = { a: 1, ", "o[:a] = 5\n", "def a\n", "GRPC::RpcServer.new\n ",
		"class A\n  def initialize(port: 1, ", "A.new(50051, ",
	}
	analyzertest.Repetitive(t, definition,
		analyzertest.Repetition{Path: "a.rb", Head: "GRPC\n", Units: units},
		analyzertest.Repetition{Path: "a_services_pb.rb", Head: "GRPC\n", Units: units})
}

var seeds = []string{
	"PORT = 1\ns = GRPC::RpcServer.new\ns.add_http2_port(\"[::]:#{PORT}\", :x)\nputs <<~A, <<-'B'\nA\nB\n",
	"=begin\n=end\nx = ?\" / 2 % %w(a (b)) =~ /#{x}/\nclass A < B::Service\nend\n__END__\n",
}

func FuzzSource(f *testing.F) { analyzertest.FuzzSource(f, definition, "a.rb", seeds...) }

func FuzzSettings(f *testing.F) {
	analyzertest.FuzzSource(f, definition, "config/settings.yml", "a:\n  port: <%= ENV.fetch('A', 50051) %>\n  b: 80\n")
}

func FuzzStub(f *testing.F) {
	stub := "module A\n  module Greeter\n    # Greets.\n    class Service\n"
	analyzertest.FuzzSource(f, definition, "a_services_pb.rb", append(seeds, stub)...)
}
