package untrusted_test

import (
	"encoding/json"
	"encoding/xml"
	"math/rand/v2"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/grpc-cnb/health-probe/internal/untrusted"
)

// Parsers that read files of apps, by the format: the ones of this package, and the standard library's, which languages
// use as they are. The longest text that any of them is given has the size in bytes.
var parsers = map[string]struct {
	size  int
	parse func(text []byte)
	// pieces are what a text is made of: what opens, what closes, and what stands between.
	pieces []string
}{
	"toml": {256 << 10, func(text []byte) {
		var v map[string]any
		untrusted.DecodeTOML(text, &v)
	}, []string{
		"[", "]", "[[", "]]", "{", "}", "=", ".", ",", "\n", "a", "'b'", `"c"`, "'''", `"""`, "1", "#", " ",
		"a={", "a.", "[a.b]\n", "[[a]]\n", "a=1,", "a=1\n", "{a=1},",
	}},
	"yaml": {128 << 10, func(text []byte) {
		untrusted.ReadYAML(text)
	}, []string{
		"[", "]", "{", "}", ":", ": ", "- ", "? ", ",", "\n", " ", "a", "&a ", "*a", "<<: *a\n", "!t ", "|\n",
		"'", `"`, "#\n", "---\n", "{{", "}}", "a: ", "a: &a {<<: *a}\n", "[*a,*a]",
	}},
	"json": {1 << 20, func(text []byte) {
		var v any
		json.Unmarshal(text, &v)
	}, []string{"[", "]", "{", "}", `"a":`, ",", `"b"`, "1", "{}", "[],", `{"a":`}},
	"xml": {1 << 20, func(text []byte) {
		var v struct {
			Names []string `xml:"a>b"`
			Rest  []struct {
				Name string `xml:"b"`
			} `xml:"c"`
		}
		xml.Unmarshal(text, &v)
	}, []string{
		"<a>", "</a>", "<b>", "</b>", "<c>", "</c>", "<a/>", "<b x='y'>", "<a xmlns='z'>", "<a xmlns:q='z'>",
		"&amp;",
		"&a;", "<!--", "-->", "<![CDATA[", "]]>", "<!DOCTYPE a [<!ENTITY a '&a;'>]>", "<?x?>", "x",
	}},
}

// What a parser allocates and the CPU time that it takes grow with the length of a text and with nothing else. Each
// text repeats a few random pieces, and then a few others.
func TestParsersCostNoMoreThanTheLengthOfATextAllows(t *testing.T) {
	const (
		bytesPerByte = 2000
		timePerByte  = 20 * time.Microsecond // a hundred times what it takes
	)
	runtime.LockOSThread() // whose CPU time is counted, whatever else the machine does
	defer runtime.UnlockOSThread()
	for format, p := range parsers {
		random := rand.New(rand.NewPCG(1, 2))
		for range 60 {
			unit, other := pieces(random, p.pieces), pieces(random, p.pieces)
			// Some texts are short at the beginning: what follows a fault of the syntax is not read.
			times := []int{10, 1000, p.size}[random.IntN(3)]
			text := strings.Repeat(unit, min(times, p.size/len(unit)))
			text += strings.Repeat(other, (p.size-len(text))/len(other))

			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			start := cpuTime(t)
			p.parse([]byte(text))
			took := cpuTime(t) - start
			runtime.ReadMemStats(&after)
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > bytesPerByte*uint64(p.size) {
				t.Errorf("%s: %d bytes of %q, then %q, take %d MiB", format, len(text), unit, other, allocated>>20)
			}
			if took > timePerByte*time.Duration(p.size) {
				t.Errorf("%s: %d bytes of %q, then %q, take %s", format, len(text), unit, other, took)
			}
		}
	}
}

// cpuTime returns the CPU time that this thread has taken.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// pieces returns one to six of the pieces, one after the other.
func pieces(random *rand.Rand, all []string) string {
	var text strings.Builder
	for range 1 + random.IntN(6) {
		text.WriteString(all[random.IntN(len(all))])
	}
	return text.String()
}
