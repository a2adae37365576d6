package documents

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satchel-go/satchel/integration/consumer"
	"github.com/satchel-go/satchel/postgrestest"
)

// patience bounds a program: a first build compiles everything.
const patience = 5 * time.Minute

// A whole program does what the document says when it is built outside the repository, with
// the commands that the document gives.
func TestPrograms(t *testing.T) {
	t.Parallel()
	found := 0
	for _, d := range documents(t) {
		for i, b := range d.blocks {
			if b.lang == "program" {
				found++
				t.Run(b.where, func(t *testing.T) {
					t.Parallel()
					runProgram(t, b.text, d.blocks[i+1].text, d.blocks[i+2].text)
				})
			}
		}
	}
	if found == 0 {
		t.Error("no document shows a whole program with its commands and its output")
	}
}

// runProgram runs commands beside a program until they have printed what they should, and
// then interrupts them, as a reader would.
func runProgram(t *testing.T, source, commands, want string) {
	t.Helper()
	db := postgrestest.New(t)
	empty(t, db)
	folder := t.TempDir()
	write(t, filepath.Join(folder, "main.go"), source)
	write(t, filepath.Join(folder, "go.sum"), sums(t))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-ec", commands)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "DATABASE_URL="+db.URL)
	cmd.Env = append(cmd.Env, outside(t)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	got := ""
	for lines := bufio.NewScanner(stdout); strings.Count(got, "\n") < strings.Count(want, "\n") && lines.Scan(); {
		got += lines.Text() + "\n"
	}
	if got != want {
		t.Errorf("it printed %q, and not %q\n%s", got, want, stderr.String())
	}
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGINT)
	_ = cmd.Wait() // a shell that was interrupted says so
	if strings.Contains(stderr.String(), "panic") {
		t.Error(stderr.String())
	}
}

// empty removes the tables: the program's commands make them.
func empty(t *testing.T, db *postgrestest.Database) {
	t.Helper()
	schema := "public"
	if db.Shared {
		schema = db.Name
	}
	if _, err := db.Pool(t).Exec(t.Context(), "DROP SCHEMA "+schema+" CASCADE; CREATE SCHEMA "+schema); err != nil {
		t.Fatal(err)
	}
}

// outside returns the environment of a folder that knows nothing of the repository: our
// modules come from a module proxy, in a release.
func outside(t *testing.T) []string {
	t.Helper()
	proxy := t.TempDir()
	if err := consumer.Publish(root, proxy, "v0.0.1"); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE", "GOPROXY").Output()
	if err != nil {
		t.Fatal(err)
	}
	env := strings.Fields(string(out))
	return []string{
		"GOWORK=off",
		"GOMODCACHE=" + t.TempDir(), // a version is immutable in a cache, and ours is new with each run
		"GOPROXY=file://" + proxy + ",file://" + filepath.Join(env[0], "cache", "download") + "," + env[1],
		"GONOSUMDB=" + repository + "/*",
		"GOFLAGS=-modcacherw -buildvcs=false -trimpath",
	}
}

// sums returns the checksums that the repository has committed.
func sums(t *testing.T) (all string) {
	t.Helper()
	for _, name := range consumer.Modules {
		doc, err := os.ReadFile(filepath.Join(root, name, "go.sum"))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		all += string(doc)
	}
	return all
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
