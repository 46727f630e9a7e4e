package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// printed is the exec probe in the log, with the log's remarks.
type printed struct {
	Command []string
	// Remark is the comment after the command.
	Remark string
	// Doubts are the lines about unknown properties of the server.
	Doubts []string
	// Alternative is the line about Kubernetes' own probe, or about the bridge.
	Alternative string
}

// asksForMore reports whether the command may need more flags, by the log.
func (p printed) asksForMore() bool { return len(p.Doubts) > 0 || moreFlags.MatchString(p.Remark) }

// asksForToken reports whether the server may ask checks for a token, by the log.
func (p printed) asksForToken() bool {
	return slices.ContainsFunc(p.Doubts, func(doubt string) bool { return strings.Contains(doubt, "a token") })
}

var (
	colours     = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	commandLine = regexp.MustCompile(`^\s*readinessProbe: {exec: {command: (\[.*?\])}, [^}]*}(?: # (.*))?$`)
	doubtLine   = regexp.MustCompile(`not known|^\s*If .* (?:TLS|a token)`)
	moreFlags   = regexp.MustCompile(`(?:^|; )add -`)
	otherLine   = regexp.MustCompile(`^\s*(Or: |Kubernetes' own)`)
)

func findProbe(log []string) (printed, error) {
	var p printed
	for i, line := range log {
		line = colours.ReplaceAllString(line, "")
		log[i] = line
		match := commandLine.FindStringSubmatch(line)
		switch {
		case match != nil && p.Command == nil:
			if err := json.Unmarshal([]byte(match[1]), &p.Command); err != nil {
				return p, fmt.Errorf("reading the printed command %q: %w", match[1], err)
			}
			p.Remark = match[2]
		case p.Command != nil && doubtLine.MatchString(line):
			p.Doubts = append(p.Doubts, strings.TrimSpace(line))
		case p.Command != nil && otherLine.MatchString(line):
			p.Alternative = strings.TrimSpace(line)
		}
	}
	if len(p.Command) == 0 {
		return p, errors.New("the build's log has no exec probe")
	}
	return p, nil
}
