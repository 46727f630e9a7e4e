package probe

import (
	"fmt"
	"slices"
	"strings"
)

// maxHeaderFile is the greatest size of a header's file, in bytes.
const maxHeaderFile = 64 << 10

// headerFile is a header whose value is in a file: Kubernetes and Compose mount secrets as files.
type headerFile struct{ name, path string }

// parseHeaderFiles returns the headers of -rpc-header-file. The error is a *Failure for the first one that cannot be
// right. It does not show what cannot be a name, because the user may have written the secret itself there.
func parseHeaderFiles(written lines) ([]headerFile, error) {
	var files []headerFile
	for i, line := range written {
		parsing := fmt.Sprintf("parsing -rpc-header-file %d", i+1)
		name, path, ok := strings.Cut(line, "=")
		file := headerFile{strings.ToLower(name), path}
		switch {
		case !ok || path == "":
			return nil, misuse(fmt.Errorf("%s: no path in it", parsing), "write it as name=path")
		case !isHeaderName(file.name):
			return nil, misuse(fmt.Errorf("%s: invalid name", parsing), nameHint)
		}
		if err := (Header{Name: file.name}).check(parsing); err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// redactHeaderFile shows a line only where it has a name and a path.
func redactHeaderFile(line string) string {
	if name, _, ok := strings.Cut(line, "="); ok && isHeaderName(strings.ToLower(name)) {
		return line
	}
	return hidden
}

// readHeaders sets Headers from both flags. Each attempt calls it, because mounted secrets change.
func (o *Options) readHeaders() error {
	o.Headers = slices.Clip(o.fixedHeaders)
	for _, file := range o.mountedHeaders {
		header, err := file.read()
		if err != nil {
			return err
		}
		o.Headers = append(o.Headers, header)
	}
	return nil
}

func (f headerFile) read() (Header, error) {
	reading := fmt.Sprintf("reading -rpc-header-file %q", f.path)
	data, err := readBoundedFile(f.path, maxHeaderFile)
	if err != nil {
		return Header{}, misuse(fmt.Errorf("%s: %w", reading, err), "is it mounted and readable for the probe's user?")
	}
	header := Header{f.name, strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")}
	if !strings.HasSuffix(f.name, "-bin") {
		header.Value = strings.TrimSpace(header.Value)
	}
	return header, header.check(reading)
}
