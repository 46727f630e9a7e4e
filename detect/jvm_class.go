package detect

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
)

// jvmClass is what of a class file decides (Java Virtual Machine Specification, chapter 4).
type jvmClass struct {
	pool       []jvmConstant
	name       string // demo/GreeterGrpc$GreeterImplBase
	super      string
	interfaces []string
}

// jvmConstant is an entry of the constant pool: text, or the places of other entries.
type jvmConstant struct {
	tag  byte
	a, b int
	text []byte
}

// The tags of the constants that are read (JVMS, table 4.4-A).
const (
	jvmUTF8            = 1
	jvmClassRef        = 7
	jvmStringRef       = 8
	jvmMethodRef       = 10
	jvmInterfaceMethod = 11
	jvmNameAndType     = 12
)

// jvmConstantSizes are the lengths of what follows a tag, in bytes; that of text is written before it.
var jvmConstantSizes = map[byte]int{jvmUTF8: 2, 3: 4, 4: 4, 5: 8, 6: 8, jvmClassRef: 2, jvmStringRef: 2, 9: 4, jvmMethodRef: 4,
	jvmInterfaceMethod: 4, jvmNameAndType: 4, 15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2}

// jvmCut reads a class file from its beginning. Past its end everything is zero, and short is set.
type jvmCut struct {
	rest  []byte
	short bool
}

func (c *jvmCut) take(n int) []byte {
	if n > len(c.rest) {
		c.rest, c.short = nil, true
		return make([]byte, min(n, 8)) // all that anything is read from as it comes
	}
	taken := c.rest[:n]
	c.rest = c.rest[n:]
	return taken
}

func (c *jvmCut) u2() int { return int(binary.BigEndian.Uint16(c.take(2))) }

func (c *jvmCut) u4() int { return int(binary.BigEndian.Uint32(c.take(4))) }

// jvmReadClass reads a class file up to its interfaces; false where it is not one.
func jvmReadClass(cut *jvmCut) (jvmClass, bool) {
	if !bytes.Equal(cut.take(4), []byte{0xca, 0xfe, 0xba, 0xbe}) {
		return jvmClass{}, false
	}
	cut.take(4) // its version
	var c jvmClass
	if !c.readPool(cut) {
		return c, false
	}
	cut.take(2) // its access flags
	c.name, c.super = c.className(cut.u2()), c.className(cut.u2())
	for range cut.u2() {
		if cut.short {
			break
		}
		c.interfaces = append(c.interfaces, c.className(cut.u2()))
	}
	return c, !cut.short
}

func (c *jvmClass) readPool(cut *jvmCut) bool {
	count := cut.u2()
	c.pool = make([]jvmConstant, count)
	for i := 1; i < count; i++ {
		constant := jvmConstant{tag: cut.take(1)[0]}
		size, ok := jvmConstantSizes[constant.tag]
		if !ok || cut.short {
			return false
		}
		operands := cut.take(size)
		switch {
		case constant.tag == jvmUTF8:
			constant.text = cut.take(int(binary.BigEndian.Uint16(operands)))
		case size == 4:
			constant.a, constant.b = int(binary.BigEndian.Uint16(operands)), int(binary.BigEndian.Uint16(operands[2:]))
		case size == 2:
			constant.a = int(binary.BigEndian.Uint16(operands))
		}
		c.pool[i] = constant
		if size == 8 {
			i++ // a long or a double takes two places
		}
	}
	return true
}

// at returns a constant of a tag; the zero value where there is another.
func (c *jvmClass) at(i int, tag byte) jvmConstant {
	if i < len(c.pool) && c.pool[i].tag == tag {
		return c.pool[i]
	}
	return jvmConstant{}
}

func (c *jvmClass) className(i int) string {
	return string(c.at(c.at(i, jvmClassRef).a, jvmUTF8).text)
}

// jvmCall is a method that a class calls.
type jvmCall struct{ class, method, descriptor string }

func (c *jvmClass) calls() []jvmCall {
	var calls []jvmCall
	for _, constant := range c.pool {
		if constant.tag != jvmMethodRef && constant.tag != jvmInterfaceMethod {
			continue
		}
		calls = append(calls, c.call(constant))
	}
	return calls
}

func (c *jvmClass) call(constant jvmConstant) jvmCall {
	member := c.at(constant.b, jvmNameAndType)
	return jvmCall{c.className(constant.a), string(c.at(member.a, jvmUTF8).text), string(c.at(member.b, jvmUTF8).text)}
}

// hasString reports whether the class has a string literal of this text.
func (c *jvmClass) hasString(text string) bool {
	return slices.ContainsFunc(c.pool, func(k jvmConstant) bool {
		return k.tag == jvmStringRef && string(c.at(k.a, jvmUTF8).text) == text
	})
}

// jvmClassWords are in every class that has a sign.
var jvmClassWords = []string{"grpc", "Grpc", "GRpc", "Triple$", "apache/dubbo", "akka/", "pekko/"}

// jvmTestClass is in the constants of what only tests use.
var jvmTestClass = regexp.MustCompile(`^\(?L?(?:org/junit/|junit/framework/|org/testng/|org/scalatest/|munit/|io/kotest/|io/grpc/testing/|kotlin/test/|org/specs2/)`)

// jvmClassSheet reads a class file; nil where it says nothing or is none.
func jvmClassSheet(text []byte) *sheet {
	if !slices.ContainsFunc(jvmClassWords, func(w string) bool { return bytes.Contains(text, []byte(w)) }) {
		return nil
	}
	members := &jvmCut{rest: text}
	c, ok := jvmReadClass(members)
	if !ok || c.generated() || jvmServing(c.name) {
		return nil
	}
	language := ""
	for _, constant := range c.pool {
		if jvmTestClass.Match(constant.text) {
			return nil
		}
		if mark := jvmLanguageMarks[string(constant.text)]; mark != "" {
			language = mark
		}
	}
	signs := c.signs()
	if len(signs) == 0 {
		return nil
	}
	for i := range signs {
		if signs[i].framework == "grpc-java" {
			signs[i].framework = jvmPlainBuilt[language]
		}
	}
	return &sheet{built: true, signs: append(signs, c.ports(members)...), own: jvmSays{language: language}}
}

// jvmLanguageMarks are annotations and attributes that compilers give to classes: kotlinc to all, scalac to those that are
// not inside of others, and to all, respectively.
var jvmLanguageMarks = map[string]string{"Lkotlin/Metadata;": "kotlin", "ScalaSig": "scala", "ScalaInlineInfo": "scala", "TASTY": "scala"}

// jvmPlainBuilt is what a server without a framework goes by, by the language it is written in.
var jvmPlainBuilt = map[string]string{"": "grpc-java", "kotlin": "grpc-kotlin", "scala": "ScalaPB"}

// generated reports whether a class is a stub: inside the class of stubs that it extends, or what Quarkus makes of each
// service, for clients too.
func (c *jvmClass) generated() bool {
	return strings.HasPrefix(c.super, jvmOuter(c.name)+"$") || slices.ContainsFunc(c.interfaces, func(i string) bool { return strings.HasSuffix(i, "/MutinyBean") })
}
