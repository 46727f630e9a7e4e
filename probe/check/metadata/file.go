package metadata

import (
	"fmt"
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/check/rawfile"
)

// maxHeaderFile is the greatest size of a header's file, in bytes.
const maxHeaderFile = 64 << 10

// File is a header with its value in a file: Kubernetes and Compose mount secrets as files.
type File struct{ name, path string }

// ParseFiles returns the headers of -rpc-header-file. The error is a *[outcome.Failure] for the first invalid header.
// An invalid name is not shown, because the user may have written the secret itself there.
func ParseFiles(written []string) ([]File, error) {
	var files []File
	for i, line := range written {
		parsing := fmt.Sprintf("parsing -rpc-header-file %d", i+1)
		name, path, ok := strings.Cut(line, "=")
		file := File{strings.ToLower(name), path}
		switch {
		case !ok || path == "":
			return nil, outcome.Misuse(fmt.Errorf("%s: no path in it", parsing), "write it as name=path")
		case !IsName(file.name):
			return nil, outcome.Misuse(fmt.Errorf("%s: invalid name", parsing), nameHint)
		}
		if err := (Header{Name: file.name}).check(parsing); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// RedactFile shows a line only if the line has a name and a path.
func RedactFile(line string) string {
	if name, _, ok := strings.Cut(line, "="); ok && IsName(strings.ToLower(name)) {
		return line
	}
	return hidden
}

// Read returns the headers of both flags for one attempt: each attempt reads the files, because mounted secrets change.
// For pause see [rawfile.Read].
func Read(fixed []Header, files []File, pause func() bool) ([]Header, error) {
	headers := slices.Clip(fixed)
	for _, file := range files {
		header, err := file.read(pause)
		if err != nil {
			return nil, err
		}
		headers = append(headers, header)
	}
	return headers, nil
}

func (f File) read(pause func() bool) (Header, error) {
	reading := fmt.Sprintf("reading -rpc-header-file %q", f.path)
	data, err := rawfile.Read(f.path, maxHeaderFile, pause)
	if err != nil {
		return Header{}, outcome.Misuse(fmt.Errorf("%s: %w", reading, err), rawfile.Hint(err))
	}
	header := Header{f.name, strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")}
	if !strings.HasSuffix(f.name, "-bin") {
		header.Value = strings.TrimSpace(header.Value)
	}
	return header, header.check(reading)
}
