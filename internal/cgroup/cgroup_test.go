package cgroup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestControllerIsFoundAmongMounts(t *testing.T) {
	t.Parallel()
	first, second, without := t.TempDir(), t.TempDir(), t.TempDir()
	control := filepath.Join(second, "cgroup.subtree_control")
	if err := os.WriteFile(control, []byte("cpuset memory\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	mounted := parseMounts("proc /proc proc rw 0 0\ncgroup2 " + without + " cgroup2 rw 0 0\n" +
		"cgroup " + first + " cgroup rw,cpu,cpuacct 0 0\ncgroup2 " + second + " cgroup2 rw 0 0\n")
	for name, want := range map[string]string{"cpu": first, "memory": second} {
		if got, err := WithController(name, mounted); got.Folder != want || err != nil {
			t.Errorf("controller %q is in %q, %v, want %q", name, got.Folder, err, want)
		}
	}
	if _, err := WithController("pids", mounted); err == nil {
		t.Error("no error for a controller that is not mounted")
	}
}

func TestLimitsOfBothVersions(t *testing.T) {
	t.Parallel()
	for version, want := range map[int]string{
		1: "cpu.cfs_period_us=100000 cpu.cfs_quota_us=5000 memory.limit_in_bytes=3145728 " +
			"memory.memsw.limit_in_bytes=3145728",
		2: "cpu.max=5000 100000 memory.max=3145728 memory.swap.max=0",
	} {
		h := Hierarchy{Version: version}
		var files []string
		for _, l := range append(h.CPULimit(50), h.MemoryLimit(3)...) {
			files = append(files, l.file+"="+l.value)
		}
		if got := strings.Join(files, " "); got != want {
			t.Errorf("limits of version %d are %q, want %q", version, got, want)
		}
	}
}

func TestAnonymousMemoryOfBothVersions(t *testing.T) {
	t.Parallel()
	for version, text := range map[int]string{
		1: "cache 1\nrss 2\ntotal_cache 3\ntotal_rss 4096\n", 2: "anon 4096\nfile 3\nanon_thp 0\n",
	} {
		group := t.TempDir()
		if err := os.WriteFile(filepath.Join(group, "memory.stat"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Anonymous(group); got != 4096 || err != nil {
			t.Errorf("the memory in version %d is %d, %v, want 4096", version, got, err)
		}
	}
	if _, err := Anonymous(t.TempDir()); err == nil {
		t.Error("no error for a group that does not count memory")
	}
}
