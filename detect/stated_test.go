package detect

import (
	"regexp"
	"testing"
)

// Expressions as the languages write them, and the port that they state; noPort where a reader could not tell it either.
func TestPortsAreReadWhereTheyAreStatedPlainly(t *testing.T) {
	t.Parallel()
	const declarations = `PORT = 50051
Address = "0.0.0.0:50052"
twice = 50053
twice = 50054
foreign = "10.0.0.5"
mine = PORT
itself = itself
`
	quotes := grammar{quoted(`"`, `"`, quoting{}), quoted("'", "'", quoting{}), quoted("`", "`", quoting{embeds: "${"})}
	for expression, want := range map[string]int{
		`50051`: 50051, `"50051"`: 50051, `50_051`: 50051, `50051u16`: 50051, `"0.0.0.0:50051"`: 50051, `"[::]:50051"`: 50051,
		`":50051"`: 50051, `"localhost:50051"`: 50051, `"10.0.0.5:50051"`: noPort, `"db.internal:50051"`: noPort,
		`PORT`: 50051, `Address`: 50052, `mine`: 50051, `itself`: noPort, `unknown`: noPort, `twice`: noPort,
		`PORT + 1`: noPort, `PORT+offset`: noPort, `"[::]:" + (PORT + 1)`: noPort, `"[::]:" + str(PORT)`: 50051,
		`std::string("0.0.0.0:") + std::to_string(PORT)`: 50051, `to_string(PORT) + to_string(PORT)`: noPort,
		`"[::]:%d" % PORT`: 50051, `"{}:{}".format(foreign, PORT)`: noPort, `"[::]:{}".format(PORT)`: 50051,
		`f"[::]:{PORT}"`: 50051, `f"[::]:{PORT:d}"`: 50051, `f"10.0.0.5:{PORT}"`: noPort, `format!("{foreign}:{PORT}")`: noPort,
		"`0.0.0.0:${process.env.PORT || 50055}`": 50055, "`0.0.0.0:${PORT}`": 50051, "`0.0.0.0:${PORT + 1}`": noPort,
		`"0.0.0.0:#{ENV.fetch('P', 50055)}"`: 50055, `"0.0.0.0:#{ENV.fetch('P') { 50055 }}"`: 50055, `"\(host):\(PORT)"`: 50051,
		`os.environ.get("PORT", "50055")`: 50055, `parseInt(process.env.PORT || '50055', 10)`: 50055, `sys.argv[1]`: noPort,
		`process.env.X ? 50055 : 50056`: noPort, `secure ? twice : PORT`: noPort, `args.PORT`: noPort, `this->PORT`: 50051,
		`ns::PORT`: 50051, `FLAGS_PORT`: 50051, `PORT.to_string()`: 50051, `IPAddress.Parse("10.0.0.5"), PORT`: noPort,
		`([0, 0, 0, 0], 50055)`: 50055, `{127, 0, 0, 1}, 50055`: 50055, `"https://*:50055/"`: 50055,
		`"http://*:50055;http://*:50056"`: noPort, `"unix:/run/a.sock"`: noPort, `0`: noPort, `70000`: noPort, `1.50055`: noPort,
	} {
		s := quotes.read([]byte(declarations + expression))
		v := s.values("\n", regexp.MustCompile(`(?m)^(?P<name>\w+) = `))
		if got := v.port(span{len(declarations), len(s.text)}); got != want {
			t.Errorf("%s states %d, want %d", expression, got, want)
		}
	}
}
