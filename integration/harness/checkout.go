package harness

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Checkout clones the repository at the current commit with all uncommitted changes, except for files unknown to git,
// tags the commit, and returns the clone's folder. All clones of a Fixture have the same commit.
func (k *Fixture) Checkout(ctx context.Context, tag string) (string, error) {
	commit, err := k.commit(ctx)
	if err != nil {
		return "", err
	}
	folder, err := k.tempFolder("checkout")
	if err != nil {
		return "", err
	}
	folder = filepath.Join(folder, "health-probe")
	for _, args := range [][]string{
		// Shared, since no branch of the repository leads to the commit of uncommitted changes.
		{"clone", "--quiet", "--shared", "--no-checkout", k.repo, folder},
		{"-C", folder, "checkout", "--quiet", "--detach", commit},
		{"-C", folder, "tag", "--force", tag},
		{"-C", folder, "tag", "--force", "cmd/kubectl-grpc_probes/" + tag}, // tag of a separate module
	} {
		if _, err := run(exec.CommandContext(ctx, "git", args...)); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// commit returns the commit of the clones: the current commit, or a new commit of uncommitted changes that changes
// nothing else.
func (k *Fixture) commit(ctx context.Context) (string, error) {
	k.committing.Lock()
	defer k.committing.Unlock()
	if k.committed != "" {
		return k.committed, nil
	}
	stash := exec.CommandContext(ctx, "git", "-C", k.repo, "-c", "user.name=test", "-c", "user.email=test@example.com",
		"stash", "create")
	commit, err := run(stash)
	if err == nil && commit == "" {
		commit, err = run(exec.CommandContext(ctx, "git", "-C", k.repo, "rev-parse", "HEAD"))
	}
	k.committed = commit
	return commit, err
}

// Script runs a script of a clone with additional variables, and returns the output.
func (k *Fixture) Script(ctx context.Context, clone string, env []string, name string, args ...string) (string, error) {
	pack, err := k.Tool(ctx, "pack")
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(clone, "scripts", name), args...)
	cmd.Env = append(append(os.Environ(), "PACK="+pack), env...)
	cmd.ExtraFiles = []*os.File{k.sweeper.alive} // the script writes to the folder of the clone
	out, err := run(cmd)
	if err != nil {
		return "", fmt.Errorf("in a clone: %w", err)
	}
	return out, nil
}
