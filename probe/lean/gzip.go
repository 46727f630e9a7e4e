package lean

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"

	"github.com/grpc-cnb/health-probe/probe/check"
)

func gzipped(message []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(message) // A bytes.Buffer takes everything.
	w.Close()
	return b.Bytes()
}

var errTooLong = fmt.Errorf("it is over the limit of %d bytes", check.MaxMessage)

// gunzip decompresses a message from the server, up to [check.MaxMessage].
func gunzip(message []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(message))
	if err != nil {
		return nil, err
	}
	plain, err := io.ReadAll(io.LimitReader(r, check.MaxMessage+1))
	if err == nil && len(plain) > check.MaxMessage {
		err = errTooLong
	}
	return plain, err
}
