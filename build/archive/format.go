package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"fmt"
	"strings"
)

// kind is the outermost format of a file.
type kind int

const (
	other kind = iota
	isGzip
	isXZ
	isZip
	isTar
)

const (
	startSize = 3072 // bytes that show the kind: as many as github-assets-cnb looks at
	tarMagic  = 257  // offset of the magic in a tar header, in bytes
	tarBlock  = 512  // size of a tar header, in bytes
)

func kindOf(r *bufio.Reader) kind {
	start, _ := r.Peek(startSize)
	switch {
	case bytes.HasPrefix(start, []byte("PK")) && bytes.Contains(start, []byte("META-INF/MANIFEST.MF")):
		return other // a jar is a zip, but it is installed as it is
	case bytes.HasPrefix(start, []byte("\x1f\x8b")):
		return isGzip
	case bytes.HasPrefix(start, []byte("\xfd7zXZ\x00")):
		return isXZ
	case bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(start, []byte("PK\x05\x06")):
		return isZip
	case len(start) > tarMagic && bytes.HasPrefix(start[tarMagic:], []byte("ustar")), isOldTar(start):
		return isTar
	}
	return other
}

// isOldTar reports whether a file begins with the header of a tar from before POSIX, without a magic: the header's
// checksum decides (tar(5), Old-Style Archive Format).
func isOldTar(start []byte) bool {
	if len(start) < tarBlock || start[0] == 0 {
		return false
	}
	_, err := tar.NewReader(bytes.NewReader(start[:tarBlock])).Next()
	return err == nil
}

// others are formats that Unpack does not support, with the first bytes of their files.
var others = []struct{ magic, name string }{
	{"BZh", "bzip2"},
	{"\x28\xb5\x2f\xfd", "Zstandard"},
	{"7z\xbc\xaf\x27\x1c", "7-Zip"},
	{"Rar!\x1a\x07", "RAR"},
	{"LZIP", "lzip"},
	{"\x04\x22\x4d\x18", "LZ4"},
	{"\x1f\x9d", "compress"},
	{"\x5d\x00\x00", "LZMA"},
	{"\x89LZO", "lzop"},
	{"!<arch>\ndebian-binary", "a Debian package"},
	{"\xed\xab\xee\xdb", "RPM"},
	{"MSCF", "cabinet"},
	{"xar!", "xar"},
	{"070701", "cpio"},
	{"070702", "cpio"},
	{"070707", "cpio"},
}

// endings are the ends of file names of the formats that Unpack supports.
var endings = []string{".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".gz", ".xz", ".zip"}

// checkSupported returns an error for a format that Unpack does not support, and for a file that is an archive by name
// only: the user wants neither installed as it is.
func checkSupported(start []byte, name string) error {
	for _, format := range others {
		if bytes.HasPrefix(start, []byte(format.magic)) {
			return fmt.Errorf("its format is %s, which is not supported (tar, gzip, xz and zip are)", format.name)
		}
	}
	isJar := bytes.HasPrefix(start, []byte("PK"))
	for _, ending := range endings {
		if strings.HasSuffix(strings.ToLower(name), ending) && !isJar {
			return fmt.Errorf("it is none of tar, gzip, xz and zip, though its name ends in %s", ending)
		}
	}
	return nil
}
