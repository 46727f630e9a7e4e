package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// verdict is the agreement of the printed probe and the log with the app.
type verdict string

const (
	// passes: the printed probe passes, by the server that the log means.
	passes verdict = "passes"
	// noHealth: the probe exits 3, the log says so, and the app has no health service.
	noHealth verdict = "no health service, as said"
	// elsewhere: the printed probe asks another socket than the log means.
	elsewhere verdict = "asks another socket"
	// named: the probe fails, and the log names the unknown settings.
	named verdict = "fails, as said"
	// wrong: the log is certain of a false claim.
	wrong verdict = "wrong"
	// notStarted: the app serves no gRPC.
	notStarted verdict = "does not start"
)

// verdicts has all verdicts, in the order of [summary].
var verdicts = [...]verdict{passes, noHealth, named, elsewhere, wrong, notStarted}

// judge compares the log with the app.
func judge(r result) verdict {
	lead := r.Claims[0]
	switch {
	case len(r.Listeners) == 0:
		return notStarted
	case fault(r) != "":
		return wrong
	case asksAnother(r):
		return elsewhere
	case r.Code == 0:
		return passes
	case r.Code == exitRPC && lead.Health == "missing":
		return noHealth
	case lead.Health == "" || lead.Security == "" || r.Printed.asksForMore():
		return named
	}
	return wrong
}

// fault returns a certain but wrong claim of the log; empty for none.
func fault(r result) string {
	lead := r.Claims[0]
	switch {
	case !strings.HasPrefix(lead.Evidence, r.App.Lead):
		return fmt.Sprintf("the server of %s is started", r.App.Lead)
	case r.Code == 0 && lead.Health == "missing":
		return "the health service is said to be missing"
	case lead.Address == "":
		return ""
	}
	at := slices.IndexFunc(r.Listeners, func(l listener) bool { return sameAddress(l.Address, lead.Address) })
	switch {
	case at < 0 && lead.Variable != "" && r.Code != exitUnreachable:
		return "" // the variable is set, and the probe reads the variable like the app
	case at < 0:
		return "nothing answers at " + lead.Address
	}
	l := r.Listeners[at]
	hasHealth := lead.Health == "registered" || lead.Health == "automatic"
	if r.Code == exitRPC && r.Printed.asksForToken() {
		hasHealth = l.Health // the observer has no token either
	}
	if lead.Health == "" || lead.Service != "" {
		hasHealth = l.Health // the log says nothing of the whole server, which the observer asks for
	}
	switch {
	case lead.Security != "" && lead.Security != strings.TrimPrefix(l.Security, "m"):
		return fmt.Sprintf("the transport is %s, not %s", l.Security, lead.Security)
	case l.Security != "mtls" && hasHealth != l.Health:
		return fmt.Sprintf("health service: %t, not %s", l.Health, lead.Health)
	case l.Loopback && strings.HasPrefix(r.Printed.Alternative, "Or: "):
		return "the kubelet does not reach loopback"
	}
	return ""
}

// asksAnother reports whether the servers that decide the probe's exit code lack the server of the log. The log does
// not know the server's address if the app's environment sets the address variable.
func asksAnother(r result) bool {
	lead := r.Claims[0]
	isSet := lead.Variable != "" && slices.ContainsFunc(r.App.Env, func(variable string) bool {
		return strings.HasPrefix(variable, lead.Variable+"=")
	})
	isMeant := func(asked string) bool { return sameAddress(asked, lead.Address) }
	return lead.Address != "" && !isSet && (r.Code == 0 || r.Code == exitRPC) && !slices.ContainsFunc(r.Asked, isMeant)
}

// exitUnreachable is the exit code of a probe that finds no server.
const exitUnreachable = 2

// sameAddress reports whether two addresses are the same in an app's namespaces with a single network interface.
// Relative sockets are in the app's folder.
func sameAddress(a, b string) bool {
	clean := func(s string) string {
		path, isUnix := strings.CutPrefix(s, "unix:")
		switch {
		case strings.HasPrefix(s, "unix-abstract:"):
			return s
		case !isUnix:
			return s[strings.LastIndex(s, ":")+1:]
		case !strings.HasPrefix(path, "/"):
			path = workspace + "/" + path
		}
		return "unix:" + filepath.Clean(path)
	}
	return clean(a) == clean(b)
}

var tableHead = fmt.Sprintf("| app | language | it serves | %s | %s |\n| --- | --- | --- | --- | --- |\n",
	builds[0].title, builds[1].title)

// row returns an app's line in the table of results.
func row(a app, results [len(builds)]result) string {
	cells := []string{a.Name, a.Language, serves(results[len(builds)-1].Listeners)}
	for _, r := range results {
		cells = append(cells, cell(r))
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

func serves(all []listener) string {
	var texts []string
	for _, l := range all {
		texts = append(texts, fmt.Sprintf("%s %s%s%s", l.Address, l.Security, when(l.Health, " with health"),
			when(l.Loopback, " (loopback)")))
	}
	slices.Sort(texts)
	return strings.Join(texts, "; ")
}

// cell returns an outcome in the table of results, with the flags of the printed probe.
func cell(r result) string {
	v := judge(r)
	text := string(v)
	if flags := strings.Join(r.Printed.Command[1:], " "); flags != "" {
		text += ", with `" + flags + "`"
	}
	switch v {
	case elsewhere:
		text += ": " + strings.Join(r.Asked, ", ")
	case wrong:
		text += ": " + fault(r)
	case notStarted:
		text += ": " + strings.Join(strings.Fields(tail(r.Output)), " ")
	}
	return text
}

func when(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// outcomes has a verdict for each build.
type outcomes [len(builds)]verdict

func judgeAll(results [len(builds)]result) (o outcomes) {
	for i, r := range results {
		o[i] = judge(r)
	}
	return o
}

// summary returns a table with the number of verdicts for each build.
func summary(all []outcomes) string {
	var text strings.Builder
	fmt.Fprintf(&text, "| %d apps |", len(all))
	for _, v := range verdicts {
		fmt.Fprintf(&text, " %s |", v)
	}
	fmt.Fprintf(&text, "\n%s|\n", strings.Repeat("| --- ", len(verdicts)+1))
	for i, b := range builds {
		count := map[verdict]int{}
		for _, o := range all {
			count[o[i]]++
		}
		fmt.Fprintf(&text, "| %s |", b.title)
		for _, v := range verdicts {
			fmt.Fprintf(&text, " %d |", count[v])
		}
		text.WriteString("\n")
	}
	return text.String()
}
