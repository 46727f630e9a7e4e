package haskell

import (
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/analyzer/analyzertest"
)

func TestApps(t *testing.T) { analyzertest.Apps(t, definition) }

func TestLayouts(t *testing.T) { analyzertest.Layouts(t, definition, grammar.Read, ".hs") }

func TestRepetitiveSources(t *testing.T) {
	analyzertest.Repetitive(t, definition, analyzertest.Repetition{
		Path: "app/Main.hs",
		Head: "import Network.GRPC.Server.Run\nimport Network.Wai.Handler.Warp\nHealthCheckRequest\n",
		Units: []string{
			"a = a + a\n", "data A = A\n", "{", "(",
			"main = greeterServer h defaultServiceOptions { serverPort = a }\n", "a :: Int\n",
			"import A\n", "import A (\n", "module A (", "run a ", "runGRpcApp (", "setPort [", "a = a\n",
			"  a <- run a\n", "InsecureConfig \"", "'a'", "[i|", "{-", "insecurePort = a, ", "ServerT '[",
			"RPC Health ", "UnaryHandler \"", "runServer", "A.A.", "healthServer ", "--",
			"InsecureConfig { insecurePort = a, ", "SecureConfig a a ", "if a then SecureConfig ",
		},
	})
}

func FuzzSource(f *testing.F) {
	analyzertest.FuzzSource(f, definition, "app/Main.hs",
		"import Network.GRPC.Server.Run (runServer, InsecureConfig(..))\n"+
			"main = runServer def InsecureConfig { insecurePort = port }\n  where port = 1\n",
		"import Mu.GRpc.Server\nmain = runGRpcApp msgProtoBuf 1 server -- {- '\"' |--> [r| |]\n",
		"{- {- -} -} import Network.GRPC.HighLevel.Generated\nx = InsecureConfig (Just \"\\\"\") 'a\n")
}

func TestQuotesThatBeginACharacter(t *testing.T) {
	for text, want := range map[string]bool{
		"HERE'a'": true, " HERE'a'": true, `(HERE'\''`: true, `[HERE'\n'`: true,
		"foldlHERE' a'": false, "'HERE'a'": false, " HERE'Normal ": false,
	} {
		before, after, _ := strings.Cut(text, "HERE")
		if got := startsCharacter([]byte(before+after), len(before)); got != want {
			t.Errorf("in %s%s a character begins: %t", before, after, got)
		}
	}
}
