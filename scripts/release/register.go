package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/go-github/v90/github"
)

// The repository of the public buildpack registry. An issue in the repository asks for an entry. A workflow of the
// repository adds the entry and the label acceptedLabel, or another label, and closes the issue.
const (
	registryOwner, registryIndex = "buildpacks", "registry-index"
	acceptedLabel                = "succeeded"
)

// registry is the buildpack registry, seen through GitHub's REST API.
type registry struct {
	api, token   string
	pause, limit time.Duration // between two questions whether it has answered, and until it has to
	out          io.Writer
}

// publicRegistry is the registry for the user of the variable GH_TOKEN. The limit is as long as in the registry's own
// action.
func publicRegistry() registry {
	return registry{
		api: cmp.Or(os.Getenv("GITHUB_API_URL"), "https://api.github.com"), token: os.Getenv("GH_TOKEN"),
		pause: 15 * time.Second, limit: 20 * time.Minute, out: os.Stdout,
	}
}

// register asks for an entry, unless the file of the index has the entry, and waits for the answer.
func (r registry) register(file, entry, title, body string) error {
	client, err := github.NewClient(github.WithAuthToken(r.token), github.WithURLs(&r.api, nil),
		github.WithTimeout(time.Minute))
	if err != nil {
		return err
	}
	ctx := context.Background()
	// A buildpack without entries has no file.
	if found, _, _, err := client.Repositories.GetContents(ctx, registryOwner, registryIndex, file, nil); err == nil {
		entries, err := found.GetContent()
		if err == nil && slices.Contains(strings.Split(entries, "\n"), entry) {
			fmt.Fprintln(r.out, "the registry has the entry already")
			return nil
		}
	}
	asked, _, err := client.Issues.Create(ctx, registryOwner, registryIndex,
		github.CreateIssueRequest{Title: title, Body: &body})
	if err != nil {
		return fmt.Errorf("asking the registry for %q: %w", title, err)
	}
	fmt.Fprintf(r.out, "asked for %q in %s\n", title, asked.GetHTMLURL())
	return r.await(ctx, client, asked)
}

func (r registry) await(ctx context.Context, client *github.Client, asked *github.Issue) error {
	for start := time.Now(); ; time.Sleep(r.pause) {
		// An error of the API counts as no answer: the next answer may be better.
		now, _, err := client.Issues.Get(ctx, registryOwner, registryIndex, asked.GetNumber())
		isAccepted := func(label *github.Label) bool { return label.GetName() == acceptedLabel }
		switch {
		case err == nil && slices.ContainsFunc(now.Labels, isAccepted):
			fmt.Fprintln(r.out, "the registry has added the entry")
			return nil
		case err == nil && now.GetState() == "closed":
			return fmt.Errorf("registering the buildpack: the registry refuses it, and %s says why", asked.GetHTMLURL())
		case time.Since(start) > r.limit:
			return errors.Join(
				fmt.Errorf("registering the buildpack: no answer after %s in %s", r.limit, asked.GetHTMLURL()), err)
		}
	}
}
