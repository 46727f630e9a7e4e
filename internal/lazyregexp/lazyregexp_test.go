package lazyregexp

import "testing"

// A test of any package finds a mistake in a pattern of the package, whether it uses the pattern or not.
func TestMistakeIsFoundInTests(t *testing.T) {
	if !panics(func() { New("(") }) {
		t.Error("a test does not compile an expression when it is made")
	}
}

func TestCompiledWhenFirstUsed(t *testing.T) {
	isTest = false
	defer func() { isTest = true }()
	mistaken := New("(")
	if got := mistaken.String(); got != "(" {
		t.Errorf("the text of the expression is %q", got)
	}
	if !panics(func() { mistaken.MatchString("") }) {
		t.Error("a mistaken expression can be used")
	}
	if !New("^a+$").MatchString("aa") {
		t.Error("an expression does not match")
	}
}

func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}
