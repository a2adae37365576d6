package layouts

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ariga.io/atlas/sql/migrate"

	"github.com/satchel-go/satchel/schema"
	"github.com/satchel-go/satchel/schema/migrator"
)

func put(t *testing.T, folder string, files fs.FS) {
	t.Helper()
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rehash(t, folder)
}

func addAtlasOrders(t *testing.T, folder, version string) {
	t.Helper()
	text := []byte("CREATE TABLE orders (id bigint PRIMARY KEY);\n")
	if err := os.WriteFile(filepath.Join(folder, version+"_create_orders.sql"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	rehash(t, folder)
}

// The migrator leaves an application's tables, and the record of its tool, alone; and the other way round.
func TestMigratorBesideAnApplication(t *testing.T) {
	t.Parallel()
	for _, satchelFirst := range []bool{true, false} {
		_, db := newDatabase(t)
		theirs := t.TempDir()
		addAtlasOrders(t, theirs, "20250101000001")
		steps := []func() error{
			func() error { return atlasApply(t, db, theirs, memory{}) },
			func() error { return migrator.Apply(testContext(t), db, migrator.Config{}) },
		}
		if satchelFirst {
			slices.Reverse(steps)
		}
		for _, step := range steps {
			if err := step(); err != nil {
				t.Fatal(err)
			}
		}
		verify(t, db, "public")
		execSQL(t, db, `INSERT INTO orders VALUES (1)`)
	}
}

// One folder for both: satchel's files are copied in, and the hash file is written anew.
func TestAtlasAmongAnApplicationsFiles(t *testing.T) {
	t.Parallel()
	_, db := newDatabase(t)
	folder, done := t.TempDir(), memory{}
	put(t, folder, part(t, schema.Migrations(), backfill))
	addAtlasOrders(t, folder, "20270101000001")
	if err := atlasApply(t, db, folder, done); err != nil {
		t.Fatal(err)
	}
	// The next release of satchel brings files that are older than the application's newest.
	put(t, folder, schema.Migrations())
	var late *migrate.HistoryNonLinearError
	if err := atlasApply(t, db, folder, done); !errors.As(err, &late) {
		t.Errorf("%v, want a HistoryNonLinearError", err)
	}
	if err := atlasApply(t, db, folder, done, migrate.WithExecOrder(migrate.ExecOrderNonLinear)); err != nil {
		t.Fatal(err)
	}
	verify(t, db, "public")
	if have := fingerprint(t, db, "public"); have != reference(t, "public") {
		t.Errorf("the tables differ from those of the migrator:\n%s", have)
	}
	// Without the new hash file nothing is applied.
	if err := os.WriteFile(filepath.Join(folder, "20280101000001_more.sql"), []byte("SELECT 1;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if dir, err := migrate.NewLocalDir(folder); err != nil || !errors.Is(migrate.Validate(dir), migrate.ErrChecksumMismatch) {
		t.Errorf("an added file was not noticed (%v)", err)
	}
}
