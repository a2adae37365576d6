package layouts

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/schema/migrator"
)

func document(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../docs/migration.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// block returns the SQL that follows a line of the document.
func block(t *testing.T, after string) string {
	t.Helper()
	_, rest, found := strings.Cut(document(t), after)
	sql := regexp.MustCompile("(?s)```sql\n(.*?)```").FindStringSubmatch(rest)
	if !found || sql == nil {
		t.Fatalf("docs/migration.md has no SQL after %q", after)
	}
	return sql[1]
}

// The Go code that the document shows is that of the examples, which run.
func TestTheDocumentShowsTheExamples(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile(`(?m)^\t+`).ReplaceAllString(string(text), "")
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(document(t), -1)
	if len(blocks) < 3 {
		t.Errorf("%d blocks of Go, want one for each tool", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(examples, regexp.MustCompile(`(?m)^\t+`).ReplaceAllString(b[1], "")) {
			t.Errorf("no example has:\n%s", b[1])
		}
	}
}

// What the document tells goose to believe is what goose believes.
func TestTakingOverWithGoose(t *testing.T) {
	t.Parallel()
	name, db := newDatabase(t)
	if err := tools[1].up(testContext(t), t, address(t, name, ""), version1); err != nil {
		t.Fatal(err)
	}
	if _, err := newGoose(t, address(t, name, ""), goosePart(t, version1)).Status(testContext(t)); err != nil { // makes its table
		t.Fatal(err)
	}
	execSQL(t, db, strings.ReplaceAll(block(t, "To tell goose that version 1 is there"), "satchel_goose_version", "goose_db_version"))
	if err := tools[0].up(testContext(t), t, address(t, name, ""), newest(t)); err != nil {
		t.Fatal(err)
	}
	verify(t, db, "public")
}

// An old relay finds its index again, and what new relays need is still there.
func TestGoingBackToAnOldRelay(t *testing.T) {
	t.Parallel()
	_, db := newDatabase(t)
	if err := migrator.Apply(testContext(t), db, migrator.Config{}); err != nil {
		t.Fatal(err)
	}
	execSQL(t, db, block(t, "### To relays of version 1"))
	execSQL(t, db, insertV1)
	claimed, err := oldRelay{db}.claim(testContext(t))
	if err != nil || len(claimed) != 1 {
		t.Errorf("claimed %v: %v", claimed, err)
	}
	verify(t, db, "public")
}

func TestRemoval(t *testing.T) {
	t.Parallel()
	_, db := newDatabase(t)
	if err := migrator.Apply(testContext(t), db, migrator.Config{}); err != nil {
		t.Fatal(err)
	}
	execSQL(t, db, `SELECT outbox_archive_maintain(2, 7)`)
	execSQL(t, db, block(t, "### To nothing"))
	if n := value[int](t, db, `SELECT (SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace)
		+ (SELECT count(*) FROM pg_proc WHERE pronamespace = 'public'::regnamespace)`); n != 0 {
		t.Errorf("%d objects are left", n)
	}
}
