package http2

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/http2/hpack"
)

// The header of a frame is three bytes of length, its type, its flags, and a stream below a reserved bit, which counts
// for nothing (RFC 9113 section 4.1).
func TestFrameHeader(t *testing.T) {
	t.Parallel()
	got := ParseFrameHeader([]byte{0x01, 0x02, 0x03, 0x09, FlagEndHeaders | FlagPadded, 0xff, 0xfe, 0xfd, 0xfc})
	want := FrameHeader{
		Length: 0x010203, Type: FrameContinuation, Flags: FlagEndHeaders | FlagPadded, Stream: 0x7ffefdfc,
	}
	if got != want {
		t.Errorf("it is %+v, want %+v", got, want)
	}
	for flag, isSet := range map[uint8]bool{
		FlagEndStream: false, FlagEndHeaders: true, FlagPadded: true, FlagPriority: false,
	} {
		if got.Has(flag) != isSet {
			t.Errorf("flag %#x is set: %v, want %v", flag, !isSet, isSet)
		}
	}
}

// What is appended is read back, a payload as long as three bytes can say too.
func TestAppendFrame(t *testing.T) {
	t.Parallel()
	for _, length := range []int{0, 1, 255, 256, 65535, 65536, 0x010203} {
		frame := AppendFrame([]byte("before"), FramePing, FlagAck, 0x01020304, make([]byte, length))
		got := ParseFrameHeader(frame[len("before"):])
		want := FrameHeader{Length: length, Type: FramePing, Flags: FlagAck, Stream: 0x01020304}
		if got != want || len(frame) != len("before")+FrameHeaderLen+length {
			t.Errorf("a payload of %d bytes is %+v in %d bytes", length, got, len(frame))
		}
	}
	setting := AppendSetting(nil, SettingMaxFrameSize, 0x01020304)
	if want := []byte{0, 5, 1, 2, 3, 4}; !bytes.Equal(setting, want) {
		t.Errorf("a setting is %x, want %x", setting, want)
	}
}

// Sizes are those of RFC 9113, sections 6.5.2 and 6.9.1.
func TestSizesOfTheProtocol(t *testing.T) {
	t.Parallel()
	got := []int64{MaxFrameSize, TableSize, DefaultWindow, MaxWindow, FrameHeaderLen}
	if want := []int64{16384, 4096, 65535, 2147483647, 9}; !slices.Equal(got, want) {
		t.Errorf("sizes are %d, want %d", got, want)
	}
	if got := FieldSize("name", "value"); got != 4+5+32 {
		t.Errorf("a field of 9 bytes counts %d", got)
	}
}

// A string of any length is read as it was written.
func TestFieldsOfEachLength(t *testing.T) {
	t.Parallel()
	for _, length := range []int{0, 1, 126, 127, 128, 254, 255, 256, 16383 + 127, 16384 + 127, 1 << 20} {
		value := strings.Repeat("v", length)
		got := ""
		decoder := hpack.NewDecoder(TableSize, func(f hpack.HeaderField) { got = f.Name + ": " + f.Value })
		_, err := decoder.Write(AppendField(AppendTableSizeZero(nil), "n", value))
		if err = errors.Join(err, decoder.Close()); err != nil || got != "n: "+value {
			t.Errorf("a value of %d bytes is read as one of %d: %v", length, len(got)-len("n: "), err)
		}
	}
}

// The limit counts 32 bytes for each field beside its own, and starts anew with each block. What an earlier connection
// had in the table is gone after a reset.
func TestLimitAndReset(t *testing.T) {
	t.Parallel()
	block := AppendField(AppendField(nil, "a", "b"), "c", "d")
	const size = 2 * (2 + fieldOverhead)
	ignore := func(_, _ []byte) error { return nil }
	decoder := NewDecoder(size)
	for range 3 {
		if err := decoder.Decode(block, nil, ignore); err != nil {
			t.Fatalf("a block as large as the limit: %v", err)
		}
	}
	newest := []byte{1<<7 | byte(len(staticTable)+1)}
	if err := decoder.Decode(newest, nil, ignore); err != nil {
		t.Fatalf("the newest field of the table: %v", err)
	}
	decoder.Reset(size - 1)
	if err := decoder.Decode(newest, nil, ignore); !errors.Is(err, errHPACK) {
		t.Errorf("a field of the connection before: %v", err)
	}
	var large *TooLargeError
	if err := decoder.Decode(block, nil, ignore); !errors.As(err, &large) || large.Limit != size-1 {
		t.Errorf("a block one byte larger than the limit: %v", err)
	}
}

// Indices of fields begin with 1 (RFC 7541 section 2.3.3).
func TestFirstIndex(t *testing.T) {
	t.Parallel()
	for block, want := range map[string]string{
		"\x81":          ":authority: ",  // the field
		"\x41\x01v":     ":authority: v", // its name
		"\x40\x01n\x00": "n: ",
		"\x80":          "",
	} {
		got := ""
		err := NewDecoder(TableSize).Decode([]byte(block), nil, func(name, value []byte) error {
			got = string(name) + ": " + string(value)
			return nil
		})
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%x is %q, %v, want %q", block, got, err, want)
		}
	}
}

// A table that the peer makes smaller loses its oldest fields at once (RFC 7541 section 4.3).
func TestSmallerTable(t *testing.T) {
	t.Parallel()
	decoder := NewDecoder(TableSize)
	ignore := func(_, _ []byte) error { return nil }
	if err := decoder.Decode(AppendField(nil, "a", "b"), nil, ignore); err != nil {
		t.Fatal(err)
	}
	block := append(AppendTableSizeZero(nil), 1<<7|byte(len(staticTable)+1))
	if err := decoder.Decode(block, nil, ignore); !errors.Is(err, errHPACK) {
		t.Errorf("a field of a table of no size: %v", err)
	}
}
