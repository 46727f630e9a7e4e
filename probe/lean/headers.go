package lean

import "github.com/grpc-cnb/health-probe/probe/http2"

// maxHeaderBytes bounds a header block, both compressed and decoded (RFC 9113 section 6.5.2).
const maxHeaderBytes = 64 << 10

type header struct{ name, value string }

// headerListSize returns the size of headers as HTTP/2 counts (RFC 9113 section 6.5.2).
func headerListSize(headers []header) (size uint32) {
	for _, h := range headers {
		size += uint32(http2.FieldSize(h.name, h.value))
	}
	return size
}

func encodeHeaders(headers []header) []byte {
	var b []byte
	for _, h := range headers {
		b = http2.AppendField(b, h.name, h.value)
	}
	return b
}

type headerDecoder struct {
	decoder *http2.Decoder
	headers []header // of the block
}

func newHeaderDecoder() *headerDecoder {
	return &headerDecoder{decoder: http2.NewDecoder(maxHeaderBytes)}
}

// decode returns the headers of a whole block, valid until the next call. After an error the connection is unusable.
func (d *headerDecoder) decode(block []byte) ([]header, error) {
	d.headers = d.headers[:0]
	err := d.decoder.Decode(block, nil, func(name, value []byte) error {
		d.headers = append(d.headers, header{string(name), string(value)})
		return nil
	})
	return d.headers, err
}
