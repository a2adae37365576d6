package main

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel/schema"
)

// The folders hold exactly what the generator makes, and so do the embedded file systems.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	t.Parallel()
	migrations, err := read(schema.Migrations())
	if err != nil {
		t.Fatal(err)
	}
	embedded := map[string]fs.FS{"goose": schema.Goose(), "golang-migrate": schema.GolangMigrate()}
	for folder, render := range layouts {
		want := fstest.MapFS{}
		for _, m := range migrations {
			for name, text := range render(m) {
				want[name] = &fstest.MapFile{Data: []byte(text)}
			}
		}
		for where, have := range map[string]fs.FS{"on disk": os.DirFS("../../" + folder), "embedded": embedded[folder]} {
			for _, difference := range differences(t, want, have) {
				t.Errorf("%s %s: %s: run go generate in the module schema", folder, where, difference)
			}
		}
	}
}

func differences(t *testing.T, want fstest.MapFS, have fs.FS) (found []string) {
	t.Helper()
	entries, err := fs.ReadDir(have, ".")
	if err != nil {
		t.Fatal(err)
	}
	present := map[string]bool{}
	for _, entry := range entries {
		present[entry.Name()] = true
		if want[entry.Name()] == nil {
			found = append(found, entry.Name()+" should not exist")
		}
	}
	for name, file := range want {
		if !present[name] {
			found = append(found, name+" is missing")
			continue
		}
		text, err := fs.ReadFile(have, name)
		if err != nil {
			t.Fatal(err)
		}
		if string(text) != string(file.Data) {
			found = append(found, name+" differs")
		}
	}
	return found
}

func TestTheGeneratorReplacesWhatIsThere(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if err := os.CopyFS(root+"/migrations", schema.Migrations()); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(root+"/goose", fstest.MapFS{"20250101000001_old.sql": {Data: []byte("SELECT 1;")}}); err != nil {
		t.Fatal(err)
	}
	if err := run(root); err != nil {
		t.Fatal(err)
	}
	for folder, want := range map[string]fs.FS{"goose": schema.Goose(), "golang-migrate": schema.GolangMigrate()} {
		names, err := fs.Glob(os.DirFS(root), folder+"/*.sql")
		if err != nil {
			t.Fatal(err)
		}
		wanted, err := fs.Glob(want, "*.sql")
		if err != nil || len(names) != len(wanted) {
			t.Errorf("%s: %d files, want %d (%v)", folder, len(names), len(wanted), err)
		}
	}
}

// A file outside a transaction must be a single statement: golang-migrate sends a file in one message, and the server
// makes a transaction of a message with more than one. A file inside must not be single if it has SET LOCAL.
func TestTransactionsFollowFromTheNumberOfStatements(t *testing.T) {
	t.Parallel()
	migrations, err := read(schema.Migrations())
	if err != nil {
		t.Fatal(err)
	}
	comment := regexp.MustCompile(`(?m)^\s*--.*$`)
	outside := 0
	for _, m := range migrations {
		statements := strings.Count(comment.ReplaceAllString(m.sql, ""), ";")
		if m.outside {
			outside++
		}
		if m.outside && statements != 1 {
			t.Errorf("%s runs outside a transaction and has %d statements", m.file, statements)
		}
		if strings.Contains(m.sql, "SET LOCAL") && statements < 2 {
			t.Errorf("%s sets something for its transaction, and has none", m.file)
		}
	}
	if outside == 0 {
		t.Error("no file runs outside a transaction: the directive is not recognised any more")
	}
}

func TestInputThatIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"1_short.sql":                  "SELECT 1;\n",
		"20260101000001-no.sql":        "SELECT 1;\n",
		"20260101000001_goose.sql":     "-- +goose Down\nSELECT 1;\n",
		"20260101000001_directive.sql": "SELECT 1;\n-- atlas:txmode none\n",
	} {
		if m, err := parse(name, text); err == nil {
			t.Errorf("%s was taken for %+v", name, m)
		}
	}
	if _, err := read(fstest.MapFS{}); err == nil {
		t.Error("an empty source was accepted")
	}
}
