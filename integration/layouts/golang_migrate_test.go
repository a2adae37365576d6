package layouts

import (
	"errors"
	"strings"
	"testing"

	"github.com/golang-migrate/migrate/v4"
	"github.com/golang-migrate/migrate/v4/database"

	"github.com/satchel-go/satchel/schema"
)

func TestGolangMigrateHasNoWayDown(t *testing.T) {
	t.Parallel()
	name, db := newDatabase(t)
	m := newMigrate(t, address(t, name, ""), schema.GolangMigrate(), nil)
	all := versions(t)
	for i := 1; i < len(all); i++ {
		if err := m.Migrate(uint(all[i])); err != nil {
			t.Fatal(err)
		}
		before := fingerprint(t, db, "public")
		err := m.Steps(-1)
		if state(err) != "0A000" {
			t.Fatalf("%d down: %v, want SQLSTATE 0A000", all[i], err)
		}
		// The message says how to go on.
		_, advice, found := strings.Cut(err.Error(), "now run: migrate force ")
		if !found || !strings.HasPrefix(advice, name14(all[i])) {
			t.Errorf("%d down: %v", all[i], err)
		}
		if fingerprint(t, db, "public") != before {
			t.Errorf("%d down changed something", all[i])
		}
		if err := m.Force(int(all[i])); err != nil {
			t.Fatal(err)
		}
	}
	verify(t, db, "public")
}

// x-multi-statement cuts at every semicolon. That must fail before anything is changed, and be curable.
func TestGolangMigrateCuttingAtSemicolons(t *testing.T) {
	t.Parallel()
	name, db := newDatabase(t)
	cutting := newMigrate(t, address(t, name, ""), schema.GolangMigrate(), map[string]string{"x-multi-statement": "true"})
	if err := cutting.Up(); state(err) != "42601" {
		t.Fatalf("%v, want a syntax error", err)
	}
	if have := value[int](t, db, `SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relname !~ '^schema_migrations'`); have != 0 {
		t.Errorf("%d relations were made", have)
	}
	whole := newMigrate(t, address(t, name, ""), schema.GolangMigrate(), nil)
	if err := whole.Force(database.NilVersion); err != nil {
		t.Fatal(err)
	}
	if err := whole.Up(); err != nil {
		t.Fatal(err)
	}
	verify(t, db, "public")
}

// Two at once block each other: the second waits for golang-migrate's lock inside a statement, hence with a snapshot, and
// a concurrent build of the first waits for all snapshots that are older. PostgreSQL ends one of them.
func TestGolangMigrateTwiceAtOnceIsADeadlock(t *testing.T) {
	t.Parallel()
	name, db := newDatabase(t)
	first := newMigrate(t, address(t, name, ""), schema.GolangMigrate(), nil)
	second := newMigrate(t, address(t, name, ""), schema.GolangMigrate(), nil)
	if err := first.Migrate(backfill); err != nil {
		t.Fatal(err)
	}
	holder, err := db.BeginTx(testContext(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	execSQL(t, holder, `LOCK TABLE outbox IN SHARE UPDATE EXCLUSIVE MODE`)
	done := make(chan error, 2)
	go func() { done <- first.Up() }()
	waitFor(t, db, `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE relation = 'outbox'::regclass AND NOT granted)`)
	go func() { done <- second.Up() }()
	waitFor(t, db, `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`)
	if err := holder.Rollback(); err != nil {
		t.Fatal(err)
	}
	errs := []error{<-done, <-done}
	if state(errs[0]) != "40P01" && state(errs[1]) != "40P01" {
		t.Errorf("%v, want one deadlock: if golang-migrate waits in another way now, docs/migration.md need not warn", errs)
	}
}

// In one set with an application's files, those that are older than the newest applied one are passed over in silence:
// the reason for the advice to keep two sets.
func TestGolangMigratePassesOverOlderFiles(t *testing.T) {
	t.Parallel()
	name, db := newDatabase(t)
	set := golangMigratePart(t, backfill)
	addOrders(set, ".up.sql", "20270101000001")
	if err := newMigrate(t, address(t, name, ""), set, nil).Up(); err != nil {
		t.Fatal(err)
	}
	newer := golangMigratePart(t, newest(t))
	addOrders(newer, ".up.sql", "20270101000001")
	if err := newMigrate(t, address(t, name, ""), newer, nil).Up(); !errors.Is(err, migrate.ErrNoChange) {
		t.Fatalf("%v, want ErrNoChange", err)
	}
	if value[bool](t, db, `SELECT to_regclass('outbox_archive') IS NOT NULL`) {
		t.Error("the older files were applied: docs/migration.md says otherwise")
	}
}
