package schema_test

import (
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/schema"
)

func files(t *testing.T) []string {
	t.Helper()
	names, err := fs.Glob(schema.Migrations(), "*.sql")
	if err != nil || len(names) == 0 {
		t.Fatalf("no migrations: %v", err)
	}
	return names
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := fs.ReadFile(schema.Migrations(), name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestVersionIsTheNewestFile(t *testing.T) {
	t.Parallel()
	names := files(t)
	if got, _, _ := strings.Cut(names[len(names)-1], "_"); got != schema.Version {
		t.Errorf("Version = %s, newest file has %s", schema.Version, got)
	}
}

func TestHashFileListsEveryMigration(t *testing.T) {
	t.Parallel()
	sum := read(t, "atlas.sum")
	for _, name := range files(t) {
		if !strings.Contains(sum, "\n"+name+" h1:") {
			t.Errorf("atlas.sum does not list %s", name)
		}
	}
}

// A concurrent statement fails inside a transaction; a file that runs outside one should do one thing, so that it is
// either done or not.
func TestConcurrentStatementsStandAlone(t *testing.T) {
	t.Parallel()
	comment := regexp.MustCompile(`(?m)^--.*$`)
	for _, name := range files(t) {
		text := read(t, name)
		concurrent := strings.Contains(comment.ReplaceAllString(text, ""), "CONCURRENTLY ")
		outside := strings.HasPrefix(text, "-- atlas:txmode none\n\n")
		if concurrent && !strings.Contains(text, "RAISE") && !outside {
			t.Errorf("%s: CONCURRENTLY without the txmode directive", name)
		}
		if !outside {
			continue
		}
		body := strings.TrimSpace(comment.ReplaceAllString(text, ""))
		if strings.Count(body, ";") != 1 || !strings.Contains(body, "EXISTS ") {
			t.Errorf("%s: want one statement that can be run again, have:\n%s", name, body)
		}
	}
}

func TestEveryFileStatesItsLocks(t *testing.T) {
	t.Parallel()
	for _, name := range files(t) {
		if !strings.Contains(read(t, name), "\n-- Locks: ") {
			t.Errorf("%s: no comment that says which locks it takes", name)
		}
	}
}

// The table of locks in the document has a row for every file.
func TestTheDocumentStatesTheLocksOfEveryFile(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("../docs/migration.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files(t) {
		if !strings.Contains(string(document), "\n| `"+strings.TrimSuffix(name, ".sql")+"` | ") {
			t.Errorf("docs/migration.md has no row for %s", name)
		}
	}
}

// Names must resolve through the search_path, or the tables of one deployment would depend on those of another.
func TestFilesAreUnqualified(t *testing.T) {
	t.Parallel()
	qualified := regexp.MustCompile(`(?i)\bpublic\.`)
	for _, name := range files(t) {
		if m := qualified.FindString(read(t, name)); m != "" {
			t.Errorf("%s: %s", name, m)
		}
	}
}

func TestEveryTimeColumnHasAZone(t *testing.T) {
	t.Parallel()
	zoneless := regexp.MustCompile(`(?im)^\s*(add column )?\w+_at\s+(?:timestamp\b|date\b|time\b)`)
	for _, name := range files(t) {
		if m := zoneless.FindString(read(t, name)); m != "" {
			t.Errorf("%s: %s", name, strings.TrimSpace(m))
		}
	}
}

func ExampleMigrations() {
	names, err := fs.Glob(schema.Migrations(), "*_create_*.sql")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range names {
		fmt.Println(name)
	}
	// Output:
	// 20260101000001_create_inbox_outbox.sql
	// 20260301000001_create_outbox_archive.sql
}

func ExampleGoose() {
	text, err := fs.ReadFile(schema.Goose(), "20260201000008_drop_pending_index.sql")
	if err != nil {
		fmt.Println(err)
		return
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "-- +goose") {
			fmt.Print(line)
		}
	}
	// Output:
	// -- +goose NO TRANSACTION
	// -- +goose Up
	// -- +goose StatementBegin
	// -- +goose StatementEnd
	// -- +goose Down
	// -- +goose StatementBegin
	// -- +goose StatementEnd
}

func ExampleGolangMigrate() {
	names, err := fs.Glob(schema.GolangMigrate(), "20260301*.up.sql")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, name := range names {
		fmt.Println(name)
	}
	// Output:
	// 20260301000001_create_outbox_archive.up.sql
	// 20260301000002_add_raw_payload.up.sql
	// 20260301000003_validate_payload_check.up.sql
}

func ExampleHCL() {
	fmt.Println(strings.Contains(schema.HCL(), `table "outbox" {`))
	// Output: true
}
