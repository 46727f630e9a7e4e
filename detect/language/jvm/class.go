package jvm

import (
	"slices"
	"strings"

	"github.com/grpc-cnb/health-probe/detect/analyzer"
	"github.com/grpc-cnb/health-probe/detect/finding"
	"github.com/grpc-cnb/health-probe/detect/language/jvm/classfile"
	"github.com/grpc-cnb/health-probe/detect/oldaddress"
	"github.com/grpc-cnb/health-probe/detect/source"
	"github.com/grpc-cnb/health-probe/internal/lazyregexp"
	"github.com/grpc-cnb/health-probe/internal/plan"
)

// classKeywords are in every class file that has a finding.
var classKeywords = source.NewKeywords("grpc", "Grpc", "GRpc", "Triple$", "apache/dubbo", "akka/", "pekko/")

// testReference is what the constants of tests begin with.
var testReference = lazyregexp.New(`^\(?L?(?:org/junit/|junit/framework/|org/testng/|org/scalatest/|munit/|` +
	`io/kotest/|io/grpc/testing/|kotlin/test/|org/specs2/)`)

// compilerMarks are the annotations and attributes by which compilers mark their classes: kotlinc marks every class,
// scalac those that are in no other class by ScalaSig or TASTY, and all by ScalaInlineInfo.
var compilerMarks = map[string]string{
	"Lkotlin/Metadata;": kotlin, "ScalaSig": scala, "ScalaInlineInfo": scala, "TASTY": scala,
}

// analyzeClass analyzes a class file, which is in an archive if entry says where. The result is nil if nothing is found
// and if the bytes are no class file.
func analyzeClass(data []byte, entry string) *analyzer.Result[extra] {
	if !classKeywords.In(data) {
		return nil
	}
	c, ok := classfile.Parse(data)
	if !ok || isGenerated(c) || isServingLibrary(c.Name) {
		return nil
	}
	language := ""
	for text := range c.Texts() {
		if testReference.Match(text) {
			return nil
		}
		if l, ok := compilerMarks[string(text)]; ok {
			language = l
		}
	}
	found := classFindings(c, entry)
	if len(found) == 0 {
		return nil
	}
	if c.HasMethod("main") {
		found = inMain(found)
	}
	found = append(found, classListeners(c)...)
	return &analyzer.Result[extra]{Built: true, Findings: found, Language: language}
}

// isGenerated reports whether a class is generated for a service: it lies in the class that it extends, or Quarkus
// makes it for clients as well.
func isGenerated(c *classfile.Class) bool {
	return strings.HasPrefix(c.Super, outermost(c.Name)+"$") ||
		slices.ContainsFunc(c.Interfaces, func(i string) bool { return strings.HasSuffix(i, "/MutinyBean") })
}

// outermost returns the class in which a class lies and which lies in no other.
func outermost(name string) string {
	outer, _, _ := strings.Cut(name, "$")
	return outer
}

// classFindings returns what a class calls, what it is annotated with and what it extends, each once.
func classFindings(c *classfile.Class, entry string) []finding.Finding {
	var found []finding.Finding
	seen := map[string]bool{}
	add := func(proves finding.Make, what string) {
		what = strings.ReplaceAll(what, "/", ".")
		if proves == nil || seen[what] {
			return
		}
		seen[what] = true
		if f := notOther(proves)(finding.AtPlace(plan.Place{}, entry+what), what); f != nil {
			found = append(found, f)
		}
	}
	for _, call := range c.Calls() {
		add(provenByCall(c, call), call.Class+"."+call.Method)
	}
	for text := range c.Texts() {
		add(annotationFindings[string(text)], "@"+strings.Trim(string(text), "L;"))
	}
	for _, rule := range superclassRules {
		if rule.class.MatchString(c.Super) {
			add(rule.proves, c.Super)
			break
		}
	}
	if slices.Contains(c.Interfaces, zioServerMain) {
		add(finding.Constructs(zioGRPC), zioServerMain)
	}
	return found
}

// provenByCall returns what a call in a class proves, nil for nothing.
func provenByCall(c *classfile.Class, call classfile.Call) finding.Make {
	if proves := callFindings[call.Class+"."+call.Method]; proves != nil {
		return proves
	}
	// Dubbo's protocols are chosen by name, and "tri" is that of Triple.
	if call.Class == "org/apache/dubbo/config/ProtocolConfig" && call.Method == "<init>" && c.HasString("tri") {
		return finding.Constructs(dubbo)
	}
	for _, rule := range stubRules {
		if rule.matches(call) && !isGeneratedWith(c, call.Class) {
			return rule.proves
		}
	}
	return nil
}

// generatedCaller is a generated class that calls other generated classes.
var generatedCaller = lazyregexp.New(`(^|/)(Abstract\w+Router|\w+PowerApiHandler(Factory)?)(\$|$)`)

// isGeneratedWith reports whether a class is generated together with another one that it calls.
func isGeneratedWith(c *classfile.Class, other string) bool {
	return outermost(c.Name) == outermost(other) || generatedCaller.MatchString(c.Name)
}

// classListeners returns the ports that a class makes servers listen on, each once.
func classListeners(c *classfile.Class) []finding.Finding {
	var found []finding.Finding
	seen := map[int]bool{}
	for _, argument := range c.IntArguments(listens) {
		if !seen[argument] {
			seen[argument] = true
			a := address.At(argument, plan.Place{})
			a.Host = address.AllInterfaces
			found = append(found, finding.ListenerAt(address.Value{Address: a}))
		}
	}
	return found
}

// listens reports whether a call has the port of a server as its argument: forPort, newServerBuilderForPort.
func listens(call classfile.Call) bool {
	return strings.HasSuffix(call.Method, "orPort") && callFindings[call.Class+"."+call.Method] != nil
}
