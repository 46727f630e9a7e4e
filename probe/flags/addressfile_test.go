package flags

import (
	"fmt"
	"strings"
	"testing"
)

func TestAddressFileComesBack(t *testing.T) {
	t.Parallel()
	for _, want := range []FoundAddress{
		{"localhost:50051", "", "main.go:12", false, false},
		{"localhost:50051", "PORT", "", true, false},
		{"", "GRPC_ADDR", "a b.go:1", false, false},
		{"unix:/run/app.sock", "", "", false, false},
		{"unix-abstract:app", "SOCKET", "x", false, false},
		{"", "", "", true, true},
		{"", "", "", false, true},
	} {
		got, err := parseAddressFile(FormatAddressFile(want))
		if got != want || err != nil {
			t.Errorf("%+v came back as %+v, %v", want, got, err)
		}
	}
	file := FormatAddressFile(FoundAddress{Target: "localhost:1", Place: "a\nb"})
	if got, err := parseAddressFile(file); got.Place != "a b" || err != nil {
		t.Errorf("a place with a line break came back as %q, %v", got.Place, err)
	}
}

func TestAddressFileOfOthersIsAnError(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"", "\n", "\n\n\n", "s3cret\n", "s3cret\n\n\n", "localhost:0\n\n\n", "localhost:1\nA=s3cret\n\n",
		"localhost:1\n\n", "localhost:1\n\n\n\n", "localhost:s3 cret\n\n\n", "localhost:1\n\n\ns3cret\n",
		"localhost:1\n\n\nalone\ntls\n", "localhost:1\n\n\ntls\ntls\n", "tls\n",
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
		"8080": "localhost:8080", ":8080": ":8080", "0.0.0.0:8080": ":8080", "http://[::]:8080": ":8080",
		"http://+:8080/": ":8080",
		"http://*:8080":  ":8080", "https://localhost:1": "localhost:1", "unix:/a": "unix:/a", "[::]:9": ":9",
		"grpc": "localhost:grpc", "tcp://10.0.0.1:80": "", "a b": "", "http://+:80;https://+:443": "", "70000": "",
	} {
		if got, err := targetOf(value); got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v, want %q", value, got, err, want)
		}
	}
}
