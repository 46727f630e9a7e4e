package integration

import (
	"testing"

	"github.com/grpc-cnb/health-probe/integration/documents"
)

const repository = ".."

// TestDocumentCommands gives the command lines in the documents to the programs that they start, pack and docker among
// them. What can be checked without these programs is checked in seconds by the tests of package documents.
func TestDocumentCommands(t *testing.T) {
	t.Parallel()
	programs := documents.Programs{
		Repository: repository, Pack: must(fixture.Tool(t.Context(), "pack"))(t),
		Docker: true,
	}
	for _, d := range must(documents.All(repository))(t) {
		for _, b := range d.Blocks {
			if b.Info != "sh" {
				continue
			}
			for _, command := range b.Commands() {
				if err := programs.Check(t.Context(), command); err != nil {
					t.Errorf("%s:%d: %s: %v", d.Path, b.Line, command, err)
				}
			}
		}
	}
}
