package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// demo is as short as a demo can be. Twice the same, except what masks take out.
const demo = `-> making a builder
$ pack build health-probe-abcdefghij/my-app --path /tmp/x/app-1 --buildpack /home/me/dist/buildpack
[builder] gRPC Health Probe 0.1.0
[builder]   grpc_health_probe (devel), lean, bundled, linux/arm64: Contributing to layer
[builder]     readinessProbe: {exec: {command: ["/probe"]}, timeoutSeconds: 4}
   done in 1.5 s
the app serves
$ probe <&>
exit 0
exit 2
`

func TestPictureIsTheSameOnEachMachine(t *testing.T) {
	t.Parallel()
	other := strings.NewReplacer("abcdefghij", "0123456789", "/tmp/x/app-1", "/var/y/app-22", "/home/me", "/src",
		"(devel)", "v0.1.0",
		"arm64", "amd64", "1.5 s", "20.0 s").Replace(demo)
	if one, two := draw(t, demo), draw(t, other); one != two {
		t.Errorf("two pictures of one demo:\n%s\n%s", one, two)
	}
	if changed := draw(t, strings.ReplaceAll(demo, "exit 0", "exit 4")); changed == draw(t, demo) {
		t.Error("the picture does not show the exit code")
	}
}

func TestPictureOfHalfADemoIsRefused(t *testing.T) {
	t.Parallel()
	half, _, _ := strings.Cut(demo, "exit 2")
	if _, err := Draw(half, "0.1.0"); err == nil ||
		!strings.Contains(err.Error(), `no line "exit 2"`) {
		t.Errorf("it is %v", err)
	}
}

func TestPictureIsXMLAndSmall(t *testing.T) {
	t.Parallel()
	committed, err := os.ReadFile("../../docs/demo.svg")
	if err != nil {
		t.Fatal(err)
	}
	for _, picture := range []string{draw(t, demo), string(committed)} {
		decoder := xml.NewDecoder(strings.NewReader(picture))
		for err == nil {
			_, err = decoder.Token()
		}
		if !errors.Is(err, io.EOF) || len(picture) > 20_000 {
			t.Errorf("%d bytes, which end in %v", len(picture), err)
		}
		err = nil
	}
}

func draw(t *testing.T, demo string) string {
	t.Helper()
	picture, err := Draw(demo, "0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	return string(picture)
}
