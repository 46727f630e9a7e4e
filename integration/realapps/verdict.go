package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// verdict is how the printed probe and what the log says stand to what the app does.
type verdict string

const (
	// passes: the printed probe passes, and the log knows the address and the security.
	passes verdict = "passes"
	// passesByLuck: it passes, though the log does not know the address or the security.
	passesByLuck verdict = "passes by luck"
	// noHealth: it exits 3, the log says so, and the app has no health service.
	noHealth verdict = "no health service, as said"
	// named: it fails, and the log names what is not known and has to be set.
	named verdict = "fails, as said"
	// wrong: the log is certain of something that is not so.
	wrong verdict = "wrong"
	// notStarted: the app serves no gRPC.
	notStarted verdict = "does not start"
)

// judge compares what the log says with what the app does.
func judge(r result) verdict {
	lead := r.Claims[0]
	isCertain := (lead.Address != "" || lead.Variable != "") && (lead.Security != "" || lead.Setting != "")
	switch {
	case len(r.Listeners) == 0:
		return notStarted
	case fault(r) != "":
		return wrong
	case r.Code == 0 && isCertain:
		return passes
	case r.Code == 0:
		return passesByLuck
	case r.Code == exitRPC && lead.Health == "missing" && isCertain:
		return noHealth
	case !isCertain || lead.Health == "" || r.Printed.Remark != "" || lead.Setting != "" || r.Printed.asksForToken():
		return named
	}
	return wrong
}

// fault says of what the log is certain and wrong; empty for nothing.
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
		return "" // the variable is set, and the probe reads it as the app does
	case at < 0:
		return "nothing answers at " + lead.Address
	}
	l := r.Listeners[at]
	hasHealth := lead.Health == "registered" || lead.Health == "automatic"
	if r.Code == exitRPC && r.Printed.asksForToken() {
		hasHealth = l.Health // the observer has no token either
	}
	if lead.Health == "" || lead.Service != "" {
		hasHealth = l.Health // nothing is said of the whole server, which the observer asks for
	}
	switch {
	case lead.Security != "" && lead.Setting == "" && lead.Security != l.Security:
		return fmt.Sprintf("the transport is %s, not %s", l.Security, lead.Security)
	case l.Security != "mtls" && hasHealth != l.Health:
		return fmt.Sprintf("health service: %t, not %s", l.Health, lead.Health)
	case l.Loopback && strings.HasPrefix(r.Printed.Alternative, "Or: "):
		return "the kubelet does not reach loopback"
	}
	return ""
}

// exitUnreachable is the exit code of a probe that finds no server.
const exitUnreachable = 2

// sameAddress reports whether two addresses are one. A relative socket is one in the app's folder.
func sameAddress(a, b string) bool {
	clean := func(s string) string {
		s = strings.Replace(s, "unix:///", "unix:/", 1)
		if path, ok := strings.CutPrefix(s, "unix:"); ok && !strings.HasPrefix(path, "/") {
			return "unix:" + workspace + "/" + path
		}
		return s
	}
	return clean(a) == clean(b)
}

const tableHead = "| app | language | the log's lead | the printed probe | exit code | the app serves | outcome |\n" +
	"|---|---|---|---|---|---|---|\n"

// row is the line of an app in the table of results.
func row(a app, r result, v verdict) string {
	lead := r.Claims[0]
	says := fmt.Sprintf("%s (%s); health %s; %s; %s", lead.Framework, lead.Evidence, cmp.Or(lead.Health, "not known"),
		cmp.Or(lead.Address+or(" unless $", lead.Variable), "address not known"),
		cmp.Or(lead.Security, "security not known")+or(" unless ", lead.Setting))
	says = strings.ReplaceAll(says, "; unless $", "; $")
	var serves []string
	for _, l := range r.Listeners {
		serves = append(serves, fmt.Sprintf("%s %s%s%s", l.Address, l.Security, when(l.Health, ", health"),
			when(l.Loopback, ", loopback")))
	}
	probe := strings.TrimSpace(strings.Join(r.Printed.Command[1:], " ") + or(" # ", r.Printed.Remark))
	what := string(v)
	if f := fault(r); f != "" {
		what += ": " + f
	}
	if v == notStarted {
		what += ": " + strings.ReplaceAll(tail(r.Output), "\n", " ")
	}
	return fmt.Sprintf("| %s | %s | %s | `%s` | %d | %s | %s |\n", a.Name, a.Language, says,
		cmp.Or(probe, "no flags"), r.Code, strings.Join(serves, "; "), what)
}

func or(before, text string) string { return when(text != "", before+text) }

func when(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// summary counts the verdicts.
func summary(all []verdict) string {
	count := map[verdict]int{}
	for _, v := range all {
		count[v]++
	}
	text := []string{fmt.Sprintf("\n%d apps", len(all))}
	for _, v := range []verdict{passes, passesByLuck, noHealth, named, wrong, notStarted} {
		text = append(text, fmt.Sprintf("%s %d", v, count[v]))
	}
	return strings.Join(text, "; ") + "\n"
}
