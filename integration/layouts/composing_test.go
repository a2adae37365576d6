package layouts

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"

	"github.com/satchel-go/satchel/schema"
)

// name14 writes a version as file names do.
func name14(version int64) string { return strconv.FormatInt(version, 10) }

// addOrders adds a migration of an application to a set. The table is one that satchel knows nothing of.
func addOrders(set fstest.MapFS, suffix, version string) {
	set[version+"_create_orders"+suffix] = &fstest.MapFile{Data: []byte("CREATE TABLE orders (id bigint PRIMARY KEY);\n")}
}

func gooseOrders(version string) fstest.MapFS {
	return fstest.MapFS{version + "_create_orders.sql": {Data: []byte("-- +goose Up\nCREATE TABLE orders (id bigint PRIMARY KEY);\n")}}
}

// Two sets, each with a record of its own, in one schema and in any order.
func TestGooseBesideAnApplication(t *testing.T) {
	t.Parallel()
	for _, satchelFirst := range []bool{true, false} {
		name, db := newDatabase(t)
		ours := newGoose(t, address(t, name, ""), schema.Goose(), goose.WithTableName("satchel_goose_version"))
		theirs := newGoose(t, address(t, name, ""), gooseOrders("00001"))
		order := []*goose.Provider{theirs, ours}
		if satchelFirst {
			order = []*goose.Provider{ours, theirs}
		}
		for _, provider := range order {
			if _, err := provider.Up(testContext(t)); err != nil {
				t.Fatal(err)
			}
		}
		verify(t, db, "public")
		execSQL(t, db, `INSERT INTO orders VALUES (1)`)
		if n := value[int](t, db, `SELECT count(*) FROM goose_db_version WHERE version_id > 0`); n != 1 {
			t.Errorf("%d of the application's migrations are recorded, want 1", n)
		}
	}
}

// One folder for both, as an application has it that copies satchel's files into its own.
func TestGooseAmongAnApplicationsFiles(t *testing.T) {
	t.Parallel()
	name, db := newDatabase(t)
	folder := t.TempDir()
	if err := os.CopyFS(folder, goosePart(t, version1)); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(folder, gooseOrders("20260115000001")); err != nil {
		t.Fatal(err)
	}
	if _, err := newGoose(t, address(t, name, ""), os.DirFS(folder)).Up(testContext(t)); err != nil {
		t.Fatal(err)
	}
	// A release of satchel brings files that are newer than its own but may be older than the application's newest.
	const refunds = "-- +goose Up\nCREATE TABLE refunds (id bigint PRIMARY KEY REFERENCES orders);\n"
	if err := os.WriteFile(filepath.Join(folder, "20270101000001_create_refunds.sql"), []byte(refunds), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := newGoose(t, address(t, name, ""), os.DirFS(folder)).Up(testContext(t)); err != nil {
		t.Fatal(err)
	}
	for file, text := range goosePart(t, newest(t)) {
		if err := os.WriteFile(filepath.Join(folder, file), text.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := newGoose(t, address(t, name, ""), os.DirFS(folder)).Up(testContext(t)); err == nil {
		t.Error("goose took files out of order without being told")
	}
	late := newGoose(t, address(t, name, ""), os.DirFS(folder), goose.WithAllowOutofOrder(true))
	if _, err := late.Up(testContext(t)); err != nil {
		t.Fatal(err)
	}
	verify(t, db, "public")
	if have := fingerprint(t, db, "public"); have != reference(t, "public") {
		t.Errorf("the tables differ from those of the migrator:\n%s", have)
	}
}

// Two sets in one schema with golang-migrate.
func TestGolangMigrateBesideAnApplication(t *testing.T) {
	t.Parallel()
	name, db := newDatabase(t)
	theirs := fstest.MapFS{}
	addOrders(theirs, ".up.sql", "000001")
	if err := newMigrate(t, address(t, name, ""), theirs, nil).Up(); err != nil {
		t.Fatal(err)
	}
	record := map[string]string{"x-migrations-table": "satchel_schema_migrations"}
	if err := newMigrate(t, address(t, name, ""), schema.GolangMigrate(), record).Up(); err != nil {
		t.Fatal(err)
	}
	verify(t, db, "public")
	if have := fingerprint(t, db, "public"); have != reference(t, "public") {
		t.Errorf("the tables differ from those of the migrator:\n%s", have)
	}
	if n := value[int](t, db, `SELECT version FROM schema_migrations`); n != 1 {
		t.Errorf("the application is at %d, want 1", n)
	}
}
