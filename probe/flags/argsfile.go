package flags

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/grpc-cnb/health-probe/probe/check/outcome"
	"github.com/grpc-cnb/health-probe/probe/check/rawfile"
)

// ArgsFileName is the name of the file with the default flags. The file is in the folder config, next to the parent of
// the folder bin with the probe: so the layer with the probe is the same in every image.
const ArgsFileName = "grpc_health_probe.args"

// maxArgsFile is the greatest size of an args file, in bytes.
const maxArgsFile = 64 << 10

// FormatArgsFile returns the contents of an args file: each word on a separate line, without quotes or escapes. A word
// with a line break or a zero byte is an error, and so are words that are too long together.
func FormatArgsFile(words []string) ([]byte, error) {
	var file bytes.Buffer
	for i, word := range words {
		if strings.ContainsAny(word, "\n\x00") {
			return nil, outcome.Misuse(
				fmt.Errorf("formatting args file: argument %d has a line break or a zero byte", i+1),
				"give -rpc-header once for each header")
		}
		file.WriteString(word + "\n")
	}
	if file.Len() > maxArgsFile {
		return nil, outcome.Misuse(
			fmt.Errorf("formatting args file: %d bytes are more than %d", file.Len(), maxArgsFile),
			"use fewer or shorter arguments")
	}
	return file.Bytes(), nil
}

// parseArgsFile is the inverse of FormatArgsFile. The last line may lack the line break, because users write args files
// too.
func parseArgsFile(file []byte) ([]string, error) {
	if bytes.IndexByte(file, 0) >= 0 {
		return nil, errors.New("it has a zero byte")
	}
	if len(file) == 0 {
		return nil, nil
	}
	return strings.Split(strings.TrimSuffix(string(file), "\n"), "\n"), nil
}

// readArgsFile returns the words and the path of the args file. A missing file is no error.
func readArgsFile() (words []string, path string, err error) {
	path = configPath(os.Executable, os.Args[0], ArgsFileName) // if path is "", no file exists
	file, err := rawfile.Read(path, maxArgsFile, nil)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, path, nil
	}
	if err == nil {
		words, err = parseArgsFile(file)
	}
	if err != nil {
		return nil, path, fmt.Errorf("reading args file %q: %w", path, err)
	}
	return words, path, nil
}

// configPath returns the path of a file in the program's folder config, or "" if the program cannot be found.
// executable fails if /proc is not mounted; then an absolute arg0 helps.
func configPath(executable func() (string, error), arg0, name string) string {
	program, err := executable()
	if err != nil && filepath.IsAbs(arg0) {
		program, err = filepath.EvalSymlinks(arg0)
	}
	if err != nil || !filepath.IsAbs(program) {
		return ""
	}
	return filepath.Join(filepath.Dir(program), "..", "..", "config", name)
}
