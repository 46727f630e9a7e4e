package probe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ArgsFileName is the name of the file with the default flags. It lies in a
// folder config beside the one the probe's bin folder is in, so that the layer
// with the probe is the same in every image.
const ArgsFileName = "grpc_health_probe.args"

// maxArgsFile bounds the args file in bytes.
const maxArgsFile = 64 << 10

// FormatArgsFile returns the contents of an args file: each of words on a line
// of its own, without quotes or escapes. It fails for a word that no line can
// hold and for words that are too long together.
func FormatArgsFile(words []string) ([]byte, error) {
	var file bytes.Buffer
	for i, word := range words {
		if strings.ContainsAny(word, "\n\x00") {
			return nil, misuse(fmt.Errorf("formatting args file: argument %d has a line break or a zero byte", i+1),
				"give -rpc-header once for each header")
		}
		file.WriteString(word + "\n")
	}
	if file.Len() > maxArgsFile {
		return nil, misuse(fmt.Errorf("formatting args file: %d bytes are more than %d", file.Len(), maxArgsFile), "use fewer or shorter arguments")
	}
	return file.Bytes(), nil
}

// parseArgsFile is the inverse of FormatArgsFile. A last line without its line
// break counts, since people write such files too.
func parseArgsFile(file []byte) ([]string, error) {
	if bytes.IndexByte(file, 0) >= 0 {
		return nil, errors.New("it has a zero byte")
	}
	if len(file) == 0 {
		return nil, nil
	}
	return strings.Split(strings.TrimSuffix(string(file), "\n"), "\n"), nil
}

// readArgsFile returns the words of the args file and its path. It is no error
// that there is none.
func readArgsFile() (words []string, path string, err error) {
	path = argsFilePath(os.Executable, os.Args[0])
	if path == "" {
		return nil, "", nil
	}
	file, err := readFile(path, maxArgsFile)
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

// argsFilePath returns where the args file of the program is, or "" where the
// program cannot be found: executable fails where /proc is not mounted, and
// arg0 then helps if it is an absolute path.
func argsFilePath(executable func() (string, error), arg0 string) string {
	program, err := executable()
	if err != nil && filepath.IsAbs(arg0) {
		program, err = filepath.EvalSymlinks(arg0)
	}
	if err != nil || !filepath.IsAbs(program) {
		return ""
	}
	return filepath.Join(filepath.Dir(program), "..", "..", "config", ArgsFileName)
}

// readFile reads a file of at most limit bytes. O_NONBLOCK: a FIFO that nobody
// writes to is empty, and not a reason to wait past every deadline.
func readFile(path string, limit int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, reason(err)
	}
	// Nothing was written, so closing cannot lose anything.
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, reason(err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("it has more than %d bytes", limit)
	}
	return data, nil
}

// reason strips the operation and the path from an error of package os: the
// message around it names the path.
func reason(err error) error {
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return failed.Err
	}
	return err
}
