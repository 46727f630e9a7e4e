package probe

import (
	"flag"
	"io"
	"time"
)

// ProbeOnce runs one probe in this process with the words of a command line, and nothing else as a source. It returns
// the longest time that was promised, and the time that all steps together have asked the budget for. The error is of
// flags that cannot be meant together.
func ProbeOnce(t Transport, words []string) (longest, given time.Duration, err error) {
	s := newSettings()
	if err := s.parse(words, commandLine); err != nil {
		return 0, 0, err
	}
	if err := s.options.validate(); err != nil {
		return 0, 0, err
	}
	p := prober{transport: t, options: &s.options, out: output{io.Discard, io.Discard}}
	_ = p.run() // what it finds is not what is tested
	budget := &s.options.Budget
	given = budget.spent
	if _, limit := budget.limit(); budget.wait > 0 || budget.timeout > 0 && limit < given {
		given = limit
	}
	return budget.Longest(), given, nil
}

// FlagValues returns the value of each flag by its name, as package flag holds it.
func FlagValues() map[string]flag.Value {
	options := defaultOptions()
	values := map[string]flag.Value{}
	newFlags(&options).VisitAll(func(f *flag.Flag) { values[f.Name] = f.Value })
	return values
}

// ChangesBudget reports whether a flag with a value changes what the longest time of a probe is computed from.
func ChangesBudget(name, value string) bool {
	s := newSettings()
	before := s.options.Budget
	err := s.parse([]string{"-" + name + "=" + value}, commandLine)
	return err == nil && s.options.Budget != before
}
