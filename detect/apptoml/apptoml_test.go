package apptoml_test

import (
	"strings"
	"testing"

	"github.com/grpc-cnb/health-probe/detect/apptoml"
)

func TestDecodeRefusesWhatWouldTakeHours(t *testing.T) {
	t.Parallel()
	var v map[string]any
	if err := apptoml.Decode([]byte(strings.Repeat("a.", 500_000)+"a = 1\n"), &v); err == nil {
		t.Error("no error")
	}
	if err := apptoml.Decode([]byte("a.b = '1.2.3'\n"), &v); err != nil || len(v) != 1 {
		t.Errorf("got %v, %v", v, err)
	}
}
