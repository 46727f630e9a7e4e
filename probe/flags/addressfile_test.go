package flags

import (
	"fmt"
	"strings"
	"testing"
)

func TestAddressFileComesBack(t *testing.T) {
	t.Parallel()
	for _, want := range []addressFile{
		{"localhost:50051", "", "main.go:12"},
		{"localhost:50051", "PORT", ""},
		{"", "GRPC_ADDR", "a b.go:1"},
		{"unix:/run/app.sock", "", ""},
		{"unix-abstract:app", "SOCKET", "x"},
	} {
		got, err := parseAddressFile(FormatAddressFile(want.target, want.variable, want.place))
		if got != want || err != nil {
			t.Errorf("%+v came back as %+v, %v", want, got, err)
		}
	}
	if got, err := parseAddressFile(FormatAddressFile("localhost:1", "", "a\nb")); got.place != "a b" || err != nil {
		t.Errorf("a place with a line break came back as %q, %v", got.place, err)
	}
}

func TestAddressFileOfOthersIsAnError(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"", "\n", "\n\n\n", "s3cret\n", "s3cret\n\n\n", "localhost:0\n\n\n", "localhost:1\nA=s3cret\n\n",
		"localhost:1\n\n", "localhost:1\n\n\n\n", "localhost:s3 cret\n\n\n",
	} {
		got, err := parseAddressFile([]byte(file))
		if err == nil {
			t.Errorf("%q is %+v", file, got)
		}
		// The file may have been replaced by a link to any other, such as a secret.
		if strings.Contains(fmt.Sprint(err), "s3") {
			t.Errorf("of %q the error has what is in the file: %v", file, err)
		}
	}
}

func TestVariableIsAPortOrAnAddress(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"8080": "localhost:8080", ":8080": ":8080", "0.0.0.0:8080": ":8080", "http://[::]:8080": ":8080", "http://+:8080/": ":8080",
		"http://*:8080": ":8080", "https://localhost:1": "localhost:1", "unix:/a": "unix:/a", "[::]:9": ":9",
		"grpc": "localhost:grpc", "tcp://10.0.0.1:80": "", "a b": "", "http://+:80;https://+:443": "", "70000": "",
	} {
		if got, err := targetOf(value); got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v, want %q", value, got, err, want)
		}
	}
}
