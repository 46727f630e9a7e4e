package lean

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/grpc-cnb/health-probe/probe/check"
)

// gzipped returns a message in the gzip format (RFC 1952), in stored blocks (RFC 1951 section 3.2.4). A request has
// only a few bytes, so compression would not make the request shorter, and a compressor would make the program much
// larger.
func gzipped(message []byte) []byte {
	const unknownSystem = 255
	b := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, unknownSystem}
	for rest, last := message, byte(0); last == 0; {
		n := min(len(rest), 1<<16-1)
		if n == len(rest) {
			last = 1
		}
		b = binary.LittleEndian.AppendUint16(append(b, last), uint16(n))
		b = append(binary.LittleEndian.AppendUint16(b, ^uint16(n)), rest[:n]...)
		rest = rest[n:]
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(message))
	return binary.LittleEndian.AppendUint32(b, uint32(len(message)))
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
