package http2

import (
	"testing"

	"golang.org/x/net/http2"
)

// The names of error codes are those of RFC 9113 section 7, as x/net has them, and a code without a name is its number.
func TestNamesOfErrorCodes(t *testing.T) {
	t.Parallel()
	for code := range uint32(len(codeNames)) {
		if got, want := CodeName(code), http2.ErrCode(code).String(); got != want {
			t.Errorf("the error code %d is %s, want %s", code, got, want)
		}
	}
	for code, want := range map[uint32]string{uint32(len(codeNames)): "14", 1<<32 - 1: "4294967295"} {
		if got := CodeName(code); got != want {
			t.Errorf("the unknown error code %d is %s", code, got)
		}
	}
}
