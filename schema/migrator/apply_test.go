package migrator

import (
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"ariga.io/atlas/sql/migrate"

	"github.com/satchel-go/satchel/schema"
)

func TestApplyOnEmptyDatabaseAndAgain(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	apply(t, db, Config{})
	if err := Verify(testContext(t), db, Config{}); err != nil {
		t.Fatal(err)
	}
	before := value[string](t, db, `SELECT string_agg(version || executed_at::text, ' ' ORDER BY version) FROM satchel_revisions`)
	apply(t, db, Config{})
	if after := value[string](t, db, `SELECT string_agg(version || executed_at::text, ' ' ORDER BY version) FROM satchel_revisions`); after != before {
		t.Errorf("the second Apply did something:\n%s\n%s", before, after)
	}
	steps, err := Status(testContext(t), db, Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		if !step.Done() || step.AppliedAt.IsZero() || step.Total == 0 {
			t.Errorf("step is not done: %+v", step)
		}
	}
	if last := steps[len(steps)-1].Version; last != schema.Version {
		t.Errorf("last step is %s, want %s", last, schema.Version)
	}
}

func TestApplyByManyAtOnce(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	errs := make([]error, 4)
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() { errs[i] = Apply(testContext(t), db, Config{Schema: "messaging"}) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if err := Verify(testContext(t), db, Config{Schema: "messaging"}); err != nil {
		t.Error(err)
	}
}

func TestMappedSchema(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	names := []string{
		"messaging", "Select", "user", "with space", `quo"te`, "comma,name", "naïve", "%s", "back\\slash",
		"g", "log", // pg_catalog ends in both
		strings.Repeat("s", 63), strings.Repeat("ü", 31),
	}
	for _, name := range names {
		cfg := Config{Schema: name}
		apply(t, db, cfg)
		if err := Verify(testContext(t), db, cfg); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		// The trigger finds the registry of its own schema, whatever the publisher sees.
		execSQL(t, db, `INSERT INTO `+quoteName(name)+`.outbox_relay (owner, asleep) VALUES ('r', true)`)
		execSQL(t, db, strings.Replace(insertV1, "outbox", quoteName(name)+".outbox", 1), "a")
		execSQL(t, db, `SELECT `+quoteName(name)+`.outbox_archive_maintain(1, 7)`)
		if n := value[int](t, db, `SELECT count(*) FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
			AND relname ~ '^outbox_archive_y'`, name); n != 2 {
			t.Errorf("%q: %d day partitions, want 2", name, n)
		}
	}
	if n := value[int](t, db, `SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace`); n != 0 {
		t.Errorf("%d relations landed in public", n)
	}
}

func TestDefaultSchemaIsTheFirstOfTheSearchPath(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	execSQL(t, db, `CREATE SCHEMA app`)
	apply(t, connectAs(t, db, "", map[string]string{"search_path": "missing, app, public"}), Config{})
	if err := Verify(testContext(t), db, Config{Schema: "app"}); err != nil {
		t.Error(err)
	}
	none := connectAs(t, db, "", map[string]string{"search_path": "missing"})
	if err := Apply(testContext(t), none, Config{}); !errors.Is(err, ErrNoSchema) {
		t.Errorf("Apply without a default schema: %v", err)
	}
	if err := Verify(testContext(t), none, Config{}); !errors.Is(err, ErrNoSchema) {
		t.Errorf("Verify without a default schema: %v", err)
	}
}

func TestSchemaNamesThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		" ", "\t", "a.b", ".", "a.", "pg_catalog", "pg_temp", "pg_", "information_schema", "$user", "nul\x00", "line\n", "bad\xff",
		strings.Repeat("s", 64), strings.Repeat("ü", 32),
	} {
		err := Config{Schema: name}.Validate()
		var refused *SchemaNameError
		if !errors.As(err, &refused) {
			t.Errorf("%q: %v, want a SchemaNameError", name, err)
			continue
		}
		if trimmed := strings.TrimSpace(name); len(trimmed) > 10 && strings.Contains(err.Error(), trimmed) && trimmed != "information_schema" {
			t.Errorf("the error repeats the name: %v", err)
		}
	}
}

func TestConfigProblems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cfg         Config
		field, text string
	}{
		{Config{}, "", ""},
		{Config{LockAttempts: MaxLockAttempts, Baseline: version1, Schema: "messaging"}, "", ""},
		{Config{LockAttempts: -1}, "lock attempts", "satchel: lock attempts are negative or more than 1000"},
		{Config{LockAttempts: MaxLockAttempts + 1}, "lock attempts", "satchel: lock attempts are negative or more than 1000"},
		{Config{Baseline: "2026"}, "baseline", "satchel: baseline is not the version of a migration"},
	} {
		err := c.cfg.Validate()
		var problem *ConfigError
		if errors.As(err, &problem) != (c.field != "") || (err == nil) != (c.field == "") {
			t.Errorf("%+v: %v", c.cfg, err)
		}
		if problem != nil && (problem.Field != c.field || err.Error() != c.text) {
			t.Errorf("%+v: %v, want %s", c.cfg, err, c.text)
		}
	}
}

func TestPoolKeepsItsSettings(t *testing.T) {
	t.Parallel()
	db := connectAs(t, newDatabase(t), "", map[string]string{"statement_timeout": "4321", "lock_timeout": "1234"})
	db.SetMaxOpenConns(1)
	const settings = `SELECT current_setting('search_path') || current_setting('statement_timeout') || current_setting('lock_timeout')`
	execSQL(t, db, `SET search_path = public, pg_temp`)
	apply(t, db, Config{Schema: "messaging"})
	if err := Verify(testContext(t), db, Config{Schema: "messaging"}); err != nil {
		t.Fatal(err)
	}
	// The session that Apply changed is gone, so this is a fresh one with the settings of the pool.
	if got := value[string](t, db, settings); got != `"$user", public4321ms1234ms` {
		t.Errorf("settings are now %s", got)
	}
	if n := value[int](t, db, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`); n != 0 {
		t.Errorf("%d advisory locks are still held", n)
	}
}

func TestTablesOfAnotherTool(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	applyUpTo(t, db, version1)
	execSQL(t, db, `DROP TABLE satchel_revisions`)
	execSQL(t, db, insertV1, "a")

	if err := Apply(testContext(t), db, Config{}); !errors.Is(err, ErrUnknownTables) {
		t.Fatalf("Apply: %v, want ErrUnknownTables", err)
	}
	apply(t, db, Config{Baseline: version1})
	apply(t, db, Config{Baseline: version1}) // a baseline that was used already is of no consequence
	apply(t, db, Config{})
	if err := Verify(testContext(t), db, Config{}); err != nil {
		t.Error(err)
	}
	steps, err := Status(testContext(t), db, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if !steps[0].Adopted || !steps[0].Done() || steps[1].Adopted || !steps[1].Done() {
		t.Errorf("unexpected steps: %+v", steps[:2])
	}
	if n := value[int](t, db, `SELECT count(*) FROM outbox`); n != 1 {
		t.Errorf("%d rows, want 1", n)
	}
}

func TestDatabaseOfANewerVersion(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	apply(t, db, Config{})
	execSQL(t, db, `INSERT INTO satchel_revisions SELECT '20990101000001', description, type, applied, total, executed_at,
		error, error_stmt, hash, partial_hashes, operator_version FROM satchel_revisions WHERE version = $1`, version1)
	if err := Apply(testContext(t), db, Config{}); !errors.Is(err, ErrNewerDatabase) {
		t.Errorf("Apply: %v", err)
	}
	if err := Verify(testContext(t), db, Config{}); !errors.Is(err, ErrNewerDatabase) {
		t.Errorf("Verify: %v", err)
	}
	if _, err := Status(testContext(t), db, Config{}); !errors.Is(err, ErrNewerDatabase) {
		t.Errorf("Status: %v", err)
	}
}

func TestHashFileIsIntactAndTamperingRefused(t *testing.T) {
	t.Parallel()
	if _, err := directory(schema.Migrations()); err != nil {
		t.Fatal(err)
	}
	copied := func() fstest.MapFS {
		dir := fstest.MapFS{}
		entries, err := fs.ReadDir(schema.Migrations(), ".")
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			text, err := fs.ReadFile(schema.Migrations(), entry.Name())
			if err != nil {
				t.Fatal(err)
			}
			dir[entry.Name()] = &fstest.MapFile{Data: text}
		}
		return dir
	}
	const first = version1 + "_create_inbox_outbox.sql"
	for name, damage := range map[string]func(fstest.MapFS){
		"edited":  func(d fstest.MapFS) { d[first].Data = append([]byte("SELECT 1;\n"), d[first].Data...) },
		"removed": func(d fstest.MapFS) { delete(d, first) },
		"added":   func(d fstest.MapFS) { d["20260101000002_more.sql"] = &fstest.MapFile{Data: []byte("SELECT 1;")} },
	} {
		dir := copied()
		damage(dir)
		if _, err := directory(dir); !errors.Is(err, migrate.ErrChecksumMismatch) {
			t.Errorf("%s: %v, want a checksum mismatch", name, err)
		}
	}
	dir := copied()
	delete(dir, migrate.HashFileName)
	if _, err := directory(dir); !errors.Is(err, migrate.ErrChecksumNotFound) {
		t.Errorf("no hash file: %v", err)
	}
}
