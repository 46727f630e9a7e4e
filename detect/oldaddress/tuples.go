package address

import (
	"bytes"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
)

// tuple is an assignment to several names at once: host, port = load(), const [host, port] = load(), let (host, port) =
// load().
var tuple = lazyregexp.New(`(?:^|[;{}]|\b(?:let|va[lr]|const|auto|list)\b)[ \t]*&?[(\[]?[ \t]*` +
	`(?P<names>(?:mut[ \t]+)?[$\w]+(?:[ \t]*,[ \t]*(?:mut[ \t]+)?[$\w]+)+)[ \t]*[)\]]?[ \t]*:?=[ \t]*` +
	`(?P<value>[^=>\s])`)

// declares is a word before names that are declared with their first values.
var declares = lazyregexp.New(`\b(?:let|va[lr]|const|auto)\b`)

// maxTuples is how many assignments to several names are read, of which maxTuple is how many bytes stand before the
// values, and maxStored how many arguments that a call may set.
const (
	maxTuples = 64
	maxTuple  = 300
	maxStored = 64
)

// readTuples declares the names of assignments to several at once: each has the value at its position, or what all come
// from. ends are the bytes that end a value.
func (d *Names) readTuples(ends string) {
	for _, m := range d.tuples() {
		names := bytes.Split(d.Code[m[2]:m[3]], []byte(","))
		from := m[4]
		if strings.IndexByte("([", d.Code[from]) >= 0 && d.Until(from+1, "") == d.Until(from, ends+";\n")-1 {
			from++ // the values are in brackets
		}
		var each []source.Span
		for begin := from; len(each) <= len(names); {
			end := d.Until(begin, ends+",;\n")
			each = append(each, source.Span{From: begin, To: end})
			if end >= len(d.Code) || d.Code[end] != ',' {
				break
			}
			begin = end + 1
		}
		all := source.Span{From: m[4], To: d.Until(m[4], ends+";\n")}
		at := m[2]
		for i, name := range names {
			value := all
			if len(each) == len(names) {
				value = d.Trim(each[i])
			}
			word := strings.TrimPrefix(strings.TrimPrefix(string(bytes.TrimSpace(name)), "mut "), "$")
			if word != "_" && len(d.byName[word]) < maxDeclarations {
				d.add(word, at, value)
				d.byName[word][len(d.byName[word])-1].isBare = !declares.Match(d.Code[m[0]:m[2]])
			}
			at += len(name) + 1
		}
	}
}

// tuples returns the matches of tuple. Few lines have a comma before an equals sign: the others are not searched.
func (d *Names) tuples() [][]int {
	var all [][]int
	for line := 0; d.LineStart(line) < len(d.Code) && len(all) < maxTuples; line++ {
		from, code := d.LineStart(line), d.LineCode(line)
		equals := bytes.IndexByte(code, '=')
		if equals < 0 || equals > maxTuple || bytes.IndexByte(code[:equals], ',') < 0 {
			continue
		}
		if m := tuple.FindSubmatchIndex(code[:min(len(code), equals+maxTuple)]); m != nil {
			for i := range m {
				m[i] += from
			}
			all = append(all, m)
		}
	}
	return all
}

// DeclareReferences declares the variables that calls may set, to which a pattern matches a reference among their
// arguments, from the bracket or the comma before it. Nothing is known of what they get. known matches what stands
// before the brackets of calls that are read otherwise; nil for a language without.
func (d *Names) DeclareReferences(reference, known *lazyregexp.Regexp) {
	for _, m := range d.FindAll(reference, maxStored) {
		name, _ := d.Group(reference, m, "name")
		_, open := d.Around(m[0]+1, m[0]-source.MaxValue, "")
		isKnown := known != nil && open >= 0 && known.Match(d.Code[max(0, open-maxDeclared):open+1])
		if len(d.byName[name]) == 0 || isKnown {
			continue
		}
		unknown := unknownAt(m[0])
		unknown.scope = max(0, d.declaring(d.byName[name], d.LogicalLine(m[0])))
		d.byName[name] = append(d.byName[name], unknown)
	}
}

// unknownAt returns a declaration of which nothing is known, at an offset.
func unknownAt(at int) declaration {
	return declaration{value: expression{raw: []byte("?"), code: []byte("?"), at: at}, isBare: true}
}
