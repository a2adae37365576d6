package pgserver

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/internal/daemon"
)

func TestMajorVersionOfAFolder(t *testing.T) {
	t.Parallel()
	for folder, want := range map[string]int{
		"/usr/lib/postgresql/15/bin":               15,
		"/usr/lib/postgresql/9/bin":                9,
		"/usr/pgsql-17/bin":                        17,
		"/opt/homebrew/opt/postgresql@18/bin":      18,
		"/home/a/.cache/satchel/postgres-16":       16,
		"/usr/local/pgsql/bin":                     0,
		"/Applications/Postgres.app/Contents/bin":  0,
		"/srv/2024/postgresql/14/bin":              14,
		"/usr/local/opt/postgresql/nothing/at/all": 0,
	} {
		if got := major(folder); got != want {
			t.Errorf("%s: got %d, want %d", folder, got, want)
		}
	}
}

// fakePrograms makes a folder with programs that only look like PostgreSQL's.
func fakePrograms(t *testing.T, answer string) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "bin")
	writeProgram(t, filepath.Join(folder, "postgres"), "#!/bin/sh\necho '"+answer+"'\n")
	writeProgram(t, filepath.Join(folder, "initdb"), "#!/bin/sh\necho no disk; exit 7\n")
	return folder
}

func writeProgram(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestVersionIsTheProgramsOwn(t *testing.T) {
	t.Parallel()
	b := binaries{bin: fakePrograms(t, "postgres (PostgreSQL) 16.4 (Debian 16.4-1)")}
	if got, err := b.version(t.Context()); err != nil || got != "16.4" {
		t.Errorf("got %q, %v; want 16.4", got, err)
	}
	b = binaries{bin: fakePrograms(t, "mysqld 8")}
	if got, err := b.version(t.Context()); err == nil {
		t.Errorf("another program's version is taken as %q", got)
	}
}

func TestFolderWithoutInitdbIsIncomplete(t *testing.T) {
	t.Parallel()
	folder := fakePrograms(t, "")
	if !complete(folder) {
		t.Error("a folder with both programs is incomplete")
	}
	if err := os.Remove(filepath.Join(folder, "initdb")); err != nil {
		t.Fatal(err)
	}
	if complete(folder) {
		t.Error("a folder without initdb is complete")
	}
}

func TestProgramsOutOfReach(t *testing.T) {
	t.Parallel()
	b := binaries{bin: fakePrograms(t, "")} // a test's folder is for its owner only
	err := b.reachable(&daemon.User{Name: "stranger", UID: 4_000_001, GID: 4_000_001})
	if err == nil || !strings.Contains(err.Error(), "stranger") {
		t.Errorf("got %v, want that the account stranger cannot reach the folder", err)
	}
	if err := b.reachable(nil); err != nil {
		t.Errorf("this process cannot reach its own folder: %v", err)
	}
}

// A folder that was named is used or reported; another PostgreSQL would be a surprise.
func TestNamedFolderIsFinal(t *testing.T) {
	t.Setenv(EnvURL, "")
	t.Setenv(EnvBin, filepath.Join(t.TempDir(), "missing"))
	_, err := Find(t.Context(), Options{})
	if !errors.Is(err, servers.ErrUnavailable) || !strings.Contains(err.Error(), EnvBin) ||
		strings.Contains(err.Error(), "container") {
		t.Errorf("got %v, want ErrUnavailable for %s alone", err, EnvBin)
	}
}

// A developer's settings for psql and pg_ctl must not reach a server of ours.
func TestEnvironmentIsNotInherited(t *testing.T) {
	t.Setenv("PGDATA", "/var/lib/postgresql/precious")
	t.Setenv("PGPORT", "5432")
	for _, variable := range (binaries{libraryPath: "/l"}).environment("/h") {
		if strings.HasPrefix(variable, "PG") {
			t.Errorf("%s is passed on", variable)
		}
	}
}
