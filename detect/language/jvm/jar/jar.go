// Package jar reads the archives of the Java virtual machine, jars and wars, which may be anybody's: it bounds what is
// read of an archive and what is unpacked of it.
//
// Begin with [Open].
package jar

import (
	"archive/zip"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/tree"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// maxUnpacked is how many bytes the entries that are read of one archive may have when they are unpacked. The classes
// of an app have a few MiB. [tree.MaxProgram] bounds the packed bytes, and [tree.MaxSource] each entry.
const maxUnpacked = 128 << 20

// Archive is an open jar.
type Archive struct {
	// Entries are the files in the archive, in its order.
	Entries []*zip.File
	left    int64 // how many bytes may still be unpacked
}

// Open reads the list of entries of an archive of any origin. size is its length in bytes. An error means that it is no
// archive, is damaged or has too many entries.
func Open(r io.ReaderAt, size int64) (*Archive, error) {
	entries, err := readEntries(r, size)
	if err != nil {
		return nil, fmt.Errorf("leaving out the jar: %w", err)
	}
	return &Archive{entries, maxUnpacked}, nil
}

// Read returns the contents of an entry. They are nil if the entry is longer than [tree.MaxSource]. The error is
// about a damaged entry, or says that all entries together are too long.
func (a *Archive) Read(e *zip.File) ([]byte, error) {
	if e.UncompressedSize64 > tree.MaxSource {
		return nil, nil
	}
	r, err := e.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	// An entry may be longer than its header says.
	text, err := io.ReadAll(io.LimitReader(r, tree.MaxSource))
	if a.left -= int64(len(text)); a.left < 0 {
		return nil, fmt.Errorf("more than %d bytes come out of it", maxUnpacked)
	}
	return text, err
}

// ParseManifest returns the headers in the main section of a manifest (JAR File Specification, Notes on Manifest and
// Signature Files). A line that begins with a space continues the line before.
func ParseManifest(text []byte) map[string]string {
	headers := map[string]string{}
	last := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break
		}
		if more, ok := strings.CutPrefix(line, " "); ok {
			headers[last] += more
			continue
		}
		name, value, _ := strings.Cut(line, ":")
		last = name
		headers[name] = strings.TrimSpace(value)
	}
	return headers
}

// version is the end of the name of an archive that has a version.
var version = lazyregexp.New(`-v?\d[\w.+-]*$`)

// HasVersion reports whether the file name of a jar ends in a version, as in shop-1.0.jar.
func HasVersion(name string) bool { return version.MatchString(strings.TrimSuffix(name, ".jar")) }

// Artifact returns the artifact that the file name of an archive names. It is group:artifact if the name has both:
// io.quarkus:quarkus-grpc for io.quarkus.quarkus-grpc-3.2.0.jar, grpc-services for grpc-services-1.60.0.jar.
func Artifact(file string) string {
	name := path.Base(file)
	name = version.ReplaceAllString(strings.TrimSuffix(strings.TrimSuffix(name, ".jar"), ".war"), "")
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		name = name[:dot] + ":" + name[dot+1:]
	}
	return name
}

// Version returns the version that the file name of an archive ends in, "" for none.
func Version(file string) string {
	name := path.Base(file)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".jar"), ".war")
	return strings.TrimPrefix(version.FindString(name), "-")
}
