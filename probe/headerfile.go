package probe

import (
	"fmt"
	"slices"
	"strings"
)

// maxHeaderFile bounds the file of a header in bytes.
const maxHeaderFile = 64 << 10

// headerFile is a header whose value is in a file, as Kubernetes and Compose
// mount secrets.
type headerFile struct{ name, path string }

// parseHeaderFiles returns the files of -rpc-header-file, or a *Failure for the
// first that cannot be meant. It does not show what is no name: someone may have
// written the secret itself.
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

// redactHeaderFile shows a name and a path, and nothing else.
func redactHeaderFile(line string) string {
	if name, _, ok := strings.Cut(line, "="); ok && isHeaderName(strings.ToLower(name)) {
		return line
	}
	return hidden
}

// readHeaders makes Headers of both flags. It is for each attempt, since mounted
// secrets change.
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
	data, err := readFile(f.path, maxHeaderFile)
	if err != nil {
		return Header{}, misuse(fmt.Errorf("%s: %w", reading, err), "is it mounted and readable for the probe's user?")
	}
	header := Header{f.name, strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")}
	if !strings.HasSuffix(f.name, "-bin") {
		header.Value = strings.TrimSpace(header.Value)
	}
	return header, header.check(reading)
}
