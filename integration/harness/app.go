package harness

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
)

// StageSample makes an app folder of the sample app, as a user has it: the source, and the server built static. Extra
// files (name to content) are added. The folder lives as long as the Fixture.
func (k *Fixture) StageSample(ctx context.Context, extra map[string]string) (string, error) {
	const source = "integration/sample"
	folder, err := k.Stage(extra)
	if err != nil {
		return "", err
	}
	for _, name := range []string{"go.mod", "go.sum", "main.go", "credentials.go", "lifecycle.go", "Procfile"} {
		if err := copyFile(filepath.Join(folder, name), filepath.Join(k.repo, source, name)); err != nil {
			return "", err
		}
	}
	return folder, k.compile(ctx, source, filepath.Join(folder, "server"))
}

func (k *Fixture) compile(ctx context.Context, source, program string) error {
	_, err := run(k.goCommand(ctx, source, slices.Concat(
		[]string{"build"}, quickly, []string{"-ldflags=-s -w", "-o", program, "."})...))
	return err
}

// Stage makes an app folder of the files (name to content). The folder lives as long as the Fixture.
func (k *Fixture) Stage(files map[string]string) (string, error) {
	folder, err := k.tempFolder("app")
	if err != nil {
		return "", err
	}
	// The lifecycle reads the app as another user than the owner of the temporary folder.
	if err := os.Chmod(folder, 0o755); err != nil {
		return "", err
	}
	for name, content := range files {
		file := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return "", err
		}
	}
	return folder, nil
}

// StageApp makes an app folder of an app in integration/apps: the files of the app's folder, of the language's folder
// and of integration/apps. The folder lives as long as the Fixture.
func (k *Fixture) StageApp(name string) (string, error) {
	folder, err := k.Stage(nil)
	if err != nil {
		return "", err
	}
	for _, source := range []string{".", path.Dir(name), name} {
		source = filepath.Join(k.repo, "integration/apps", source)
		entries, err := os.ReadDir(source)
		if err != nil {
			return "", err
		}
		for _, entry := range entries {
			if entry.IsDir() {
				continue
			}
			if err := copyFile(filepath.Join(folder, entry.Name()), filepath.Join(source, entry.Name())); err != nil {
				return "", err
			}
		}
	}
	return folder, nil
}
